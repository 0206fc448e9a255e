/**
 * Makes `quickjs.wasm`: QuickJS of the package `quickjs-wasi`, in which every turn of a loop and every 64 bytes of a copy take a step from the global `fuel`, and which
 * traps where none is left. So whatever a program does in the engine ends, in the engine's own functions too (`Array(1e9).join()`, a product of long
 * integers, a regular expression), after a count that is the same on every machine. Functions that may call themselves take the stack that they need at most from
 * the global `room`, so that a recursion ends at the same depth on every machine. Exports that are not used are left out.
 *
 * `npm run build:kernels` writes the file; the result is committed, and a test makes it again and compares bytes.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import binaryen from 'assemblyscript/binaryen';

const EXPORTS = new Set([
  'memory',
  '__stack_pointer',
  '_initialize',
  'qjs_init',
  'qjs_set_memory_limit',
  'qjs_set_max_stack_size',
  'qjs_eval',
  'qjs_call',
  'qjs_new_host_function',
  'qjs_new_string',
  'qjs_get_string_len',
  'qjs_free_cstring',
  'qjs_free_value',
  'qjs_get_undefined',
  'qjs_get_true',
  'qjs_get_false',
  'qjs_is_exception',
  'qjs_is_bool',
  'qjs_get_bool',
  'qjs_get_exception',
  'qjs_get_prop_string',
  'qjs_promise_state',
  'qjs_promise_result',
  'qjs_is_job_pending',
  'qjs_execute_pending_job',
  'wasm_malloc',
  'wasm_free',
]);

/** Most pages of 64 KiB that the memory may grow to, above what a program's limit allows. */
const MOST_PAGES = 512;

const STEP = `(if (i32.eqz (global.get $fuel)) (then (unreachable)))
  (global.set $fuel (i32.sub (global.get $fuel) (i32.const 1)))`;

/** `memory.copy` or `memory.fill`, paid by its length. */
const paid = (name: string): string => `(func $paid_${name} (param $a i32) (param $b i32) (param $bytes i32)
  (if (i32.lt_u (global.get $fuel) (i32.shr_u (local.get $bytes) (i32.const 6)))
    (then (global.set $fuel (i32.const 0)) (unreachable)))
  (global.set $fuel (i32.sub (global.get $fuel) (i32.shr_u (local.get $bytes) (i32.const 6))))
  (memory.${name} (local.get $a) (local.get $b) (local.get $bytes)))`;

/** Stack that a call takes at most in code that is not optimised: a slot of 8 bytes for each parameter and local, and what every call takes. */
const frameBytes = (locals: number): number => 176 + 8 * locals;

/** A text with each match of a pattern replaced; throws where there is none. */
function replaced(text: string, pattern: RegExp, by: (match: string, ...groups: string[]) => string): string {
  if (text.search(pattern) < 0) throw new Error(`internal: QuickJS has no ${pattern}.`);
  return text.replace(pattern, by);
}

/** The module as text, with its steps counted. */
function metered(text: string): string {
  const loops = replaced(
    text,
    /\(loop(?: \$[\w.$]+)?(?: \(type \$\w+\))?(?: \(result \w+\))?/g,
    (loop) => `${loop}\n${STEP}`,
  );
  const copies = replaced(loops, /\(memory\.(copy|fill)(?=\s)/g, (_, name) => `(call $paid_${name}`);
  const bounded = replaced(
    copies,
    /\(memory (\$\w+) (\d+)\)/,
    (_, name, pages) =>
      `(memory ${name} ${pages} ${MOST_PAGES})\n(global $fuel (mut i32) (i32.const 0))\n(global $room (mut i32) (i32.const 0))`,
  );
  return replaced(
    bounded,
    /\)\s*$/,
    () => `(export "fuel" (global $fuel))\n(export "room" (global $room))\n${paid('copy')}\n${paid('fill')})`,
  );
}

/** A function of a module as text: its lines before the body, and the body. */
const FUNCTION = /^ \(func (\$[^\s)]+)([^\n]*)\n((?: {2}\(local [^\n]*\n)*)([\s\S]*?)^ \)$/gm;

/** Functions that may be called again while they run: by calls of functions that are known, or through a function that calls one that is not, or the host. */
function recursive(text: string, imports: ReadonlySet<string>): Set<string> {
  const calls = new Map<string, Set<string>>();
  const found = new Set<string>();
  for (const [, name, , , body] of text.matchAll(FUNCTION)) {
    const called = new Set([...body!.matchAll(/\(call (\$[^\s)]+)/g)].map(([, one]) => one!));
    calls.set(name!, called);
    if (body!.includes('(call_indirect') || [...called].some((one) => imports.has(one))) found.add(name!);
  }
  const reaches = (from: string): boolean => {
    const seen = new Set<string>();
    const next = [...(calls.get(from) ?? [])];
    for (let one = next.pop(); one !== undefined; one = next.pop()) {
      if (one === from) return true;
      if (seen.has(one)) continue;
      seen.add(one);
      next.push(...(calls.get(one) ?? []));
    }
    return false;
  };
  for (const name of calls.keys()) if (!found.has(name) && reaches(name)) found.add(name);
  return found;
}

/** The module as text, with the stack of its recursive calls taken from `room`. */
function roomy(text: string): string {
  const imports = new Set(
    [...text.matchAll(/\(import "[^"]*" "[^"]*" \(func (\$[^\s)]+)/g)].map(([, name]) => name!),
  );
  const counted = recursive(text, imports);
  return replaced(text, FUNCTION, (whole, name, head, locals, body) => {
    if (!counted.has(name!)) return whole;
    const result = /\(result (\w+)\)/.exec(head!)?.[1];
    const params = [...head!.matchAll(/\(param (?:\$\S+ )?(\w+)\)/g)].length;
    const bytes = frameBytes(params + locals!.split('\n').length);
    const inner = `(block $left${result ? ` (result ${result})` : ''}\n${body!.replaceAll('(return', '(br $left')})`;
    return ` (func ${name}${head}
${locals}${result ? `(local $given ${result})\n` : ''}(if (i32.lt_s (global.get $room) (i32.const ${bytes})) (then (unreachable)))
(global.set $room (i32.sub (global.get $room) (i32.const ${bytes})))
${result ? `(local.set $given ${inner})` : inner}
(global.set $room (i32.add (global.get $room) (i32.const ${bytes})))
${result ? '(local.get $given)\n' : ''} )`;
  });
}

/** The module's bytes; the same versions of both packages give the same bytes. */
export function compileQuickJs(): Uint8Array {
  const file = createRequire(import.meta.url).resolve('quickjs-wasi/quickjs.wasm');
  const given = binaryen.readBinary(readFileSync(file));
  const features = given.getFeatures();
  const parsed = (text: string) => {
    const made = binaryen.parseText(text);
    made.setFeatures(features);
    if (!made.validate()) throw new Error('internal: the metered QuickJS is no valid module.');
    return made;
  };
  for (let at = given.getNumExports() - 1; at >= 0; at--) {
    const { name } = binaryen.getExportInfo(given.getExportByIndex(at));
    if (!EXPORTS.has(name)) given.removeExport(name);
  }
  given.runPasses(['remove-unused-module-elements']);
  const counted = parsed(metered(given.emitText()));
  binaryen.setOptimizeLevel(2);
  binaryen.setShrinkLevel(2);
  counted.optimize();
  return parsed(roomy(counted.emitText())).emitBinary();
}

/** The committed file. */
export const QUICKJS = new URL('quickjs.wasm', import.meta.url);

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) writeFileSync(QUICKJS, compileQuickJs());
