// Makes src/api/schema.ts from the published contract; with --check says whether it is up to date.
// Usage: node scripts/types.mjs [--check] [OPENAPI.json]; without a file, the one of the package in this checkout.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import openapiTS, { astToString } from "openapi-typescript";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const target = join(root, "web/src/api/schema.ts");
const HEAD = "// Made by `npm run types` from the published contract. Do not edit.\n\n";

async function make(document) {
  return HEAD + astToString(await openapiTS(pathToFileURL(document)));
}

function exported(folder) {
  const file = join(folder, "openapi.json");
  execFileSync(join(root, ".venv/bin/python"), ["-m", "tools.openapi", file], { cwd: root, stdio: "inherit" });
  return file;
}

const given = process.argv.slice(2).filter((a) => !a.startsWith("--"))[0];
const folder = mkdtempSync(join(tmpdir(), "podium-types-"));
try {
  const made = await make(given ? resolve(given) : exported(folder));
  if (!process.argv.includes("--check")) {
    writeFileSync(target, made);
  } else if (made !== readFileSync(target, "utf8")) {
    console.error("web/src/api/schema.ts is not what the contract says: run `npm run types` in web/.");
    process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
