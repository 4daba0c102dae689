/** What is shown to somebody without a login. */
export function NoLogin({ failed }: { failed: string | null }) {
  return (
    <main className="center">
      <h1>Podium wants a login</h1>
      {failed ? <p role="alert">{failed}</p> : <p>This browser has no login, or it is over.</p>}
      <p>
        Open the address that <code>podium serve</code> printed when it started. It holds a code that works once.
      </p>
      <p>For a new one, run this on the machine where Podium runs:</p>
      <pre className="command" tabIndex={0}>
        podium serve --url
      </pre>
    </main>
  );
}
