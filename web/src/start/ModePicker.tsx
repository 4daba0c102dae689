import type { Mode } from "../api/types";
import { MODE_WORDS, MODES } from "../words/modes";

interface Props {
  /** The chosen one; null while somebody has to choose. */
  mode: Mode | null;
  /** Those that the agent can be held to. */
  held: readonly Mode[];
  onChoose: (mode: Mode) => void;
}

/** What the agent may do unasked. */
export function ModePicker({ mode, held, onChoose }: Props) {
  return (
    <fieldset className="field modes">
      <legend>What may it do unasked?</legend>
      <div className="modes-row">
        {MODES.map((each) => (
          <label key={each} className="mode" title={MODE_WORDS[each]}>
            <input
              type="radio"
              name="mode"
              value={each}
              checked={each === mode}
              disabled={!held.includes(each)}
              aria-describedby={`mode-${each}`}
              onChange={() => onChoose(each)}
            />
            {each}
          </label>
        ))}
      </div>
      {MODES.map((each) => (
        <p key={each} id={`mode-${each}`} className="meta" hidden={each !== mode}>
          {MODE_WORDS[each]}
        </p>
      ))}
      {mode === null && (
        <p className="meta mode-unheld">Nothing holds this agent to less than {held.join(" or ")}: choose that, or take another agent.</p>
      )}
    </fieldset>
  );
}
