import { useEffect, useState } from "react";

/** How long the button says that it worked, in milliseconds. */
const SAID_FOR = 1500;

export function CopyButton({ text, what }: { text: () => string; what: string }) {
  const [said, setSaid] = useState("");
  useEffect(() => {
    if (!said) return;
    const timer = setTimeout(() => setSaid(""), SAID_FOR);
    return () => clearTimeout(timer);
  }, [said]);
  return (
    <button
      type="button"
      className="quiet"
      aria-label={`Copy ${what}`}
      onClick={() => {
        navigator.clipboard.writeText(text()).then(
          () => setSaid("copied"),
          () => setSaid("not copied"),
        );
      }}
    >
      {said || "copy"}
    </button>
  );
}
