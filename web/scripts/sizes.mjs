// Sizes of the built page, gzipped, against their bounds. Grammars are loaded one by one and do not count.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const FIRST_MAX = 250;
const TOTAL_MAX = 350;

const built = resolve(dirname(fileURLToPath(import.meta.url)), "../../src/podium/server/static");
const size = (name) => gzipSync(readFileSync(join(built, "assets", name)), { level: 9 }).length / 1000;
const names = readdirSync(join(built, "assets"));
const index = readFileSync(join(built, "index.html"), "utf8");
const first = names.filter((n) => index.includes(n));
const ours = names.filter((n) => /^(index|Changes|DiffText|worker)/.test(n));
const sum = (list) => list.reduce((total, n) => total + size(n), 0);
const rows = { "first view": [sum(first), FIRST_MAX], "all but grammars": [sum(ours), TOTAL_MAX], "with grammars": [sum(names), Infinity] };
for (const [name, [kb, most]] of Object.entries(rows)) {
  console.log(`${name.padEnd(18)} ${kb.toFixed(1)} kB${most === Infinity ? "" : ` of ${most}`}`);
  if (kb > most) process.exitCode = 1;
}
