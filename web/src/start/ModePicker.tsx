import type { Mode } from "../api/types";
import { MODE_WORDS, MODES } from "../words/modes";

/** What the agent may do unasked. */
export function ModePicker({ mode, onChoose }: { mode: Mode; onChoose: (mode: Mode) => void }) {
  return (
    <fieldset className="field modes">
      <legend>What may it do unasked?</legend>
      <div className="modes-row">
        {MODES.map((each) => (
          <label key={each} className="mode" title={MODE_WORDS[each]}>
            <input type="radio" name="mode" value={each} checked={each === mode} aria-describedby={`mode-${each}`} onChange={() => onChoose(each)} />
            {each}
          </label>
        ))}
      </div>
      {MODES.map((each) => (
        <p key={each} id={`mode-${each}`} className="meta" hidden={each !== mode}>
          {MODE_WORDS[each]}
        </p>
      ))}
    </fieldset>
  );
}
