// Builds the bundles that krand serves and ships, byte for byte the same on every machine.
//
//   node build.mjs               into src/krand/web/form/static
//   node build.mjs --into DIR    into another folder, to compare
//   node build.mjs --internals   build/internals.js: every module, for tests; not minified

import { build } from "esbuild";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const HERE = dirname(fileURLToPath(import.meta.url));
const STATIC = join(HERE, "..", "..", "src", "krand", "web", "form", "static");
const TARGET = ["es2022"];
const BANNER = "/*! krand, Apache-2.0; with parts of other packages: see LICENSES.txt */";
/** Packages whose code is in the bundles. */
const BUNDLED = ["hpke", "@noble/hashes"];

/** The licence of a bundled package, as it asks to be repeated. */
function licence(name) {
  const folder = join(HERE, "node_modules", name);
  const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = ["LICENSE.md", "LICENSE"].map((each) => join(folder, each)).find(existsSync);
  const text = readFileSync(file, "utf8").trim();
  return `${name} ${version}\n\n${text}\n`;
}

/** One entry point as one ES module. */
function bundle(entry, outfile, minify) {
  return build({
    absWorkingDir: HERE,
    entryPoints: [entry],
    outfile,
    bundle: true,
    format: "esm",
    target: TARGET,
    minify,
    charset: "utf8",
    legalComments: "none",
    banner: { js: BANNER },
    logLevel: "warning",
  });
}

async function main(given) {
  if (given.includes("--internals")) {
    return bundle("src/internals.ts", join(HERE, "build", "internals.js"), false);
  }
  const into = given.includes("--into") ? given[given.indexOf("--into") + 1] : STATIC;
  mkdirSync(into, { recursive: true });
  writeFileSync(join(into, "LICENSES.txt"), BUNDLED.map(licence).join("\n"));
  await bundle("src/index.ts", join(into, "krand.js"), true);
  await bundle("src/form/main.ts", join(into, "form.js"), true);
}

await main(process.argv.slice(2));
