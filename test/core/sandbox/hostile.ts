// biome-ignore-all lint/suspicious/noTemplateCurlyInString: programs are texts
/**
 * Programs that try to get out of the engine, to hang it, or to be paid without being right; and some that look so and are right. They are data: families, each with
 * the outcome that its rule demands, and variations. The task of most is to write `add`.
 */
import type { Outcome } from '../../../core/sandbox/run-tests.ts';

export interface Hostile {
  readonly family: string;
  readonly program: string;
  readonly tests: readonly string[];
  /** What the rule of the family allows. */
  readonly outcomes: readonly Outcome[];
}

const ADD = [
  'assert(add(1, 2) === 3)',
  'assert.deepStrictEqual([add(2, 2), add(-1, 1)], [4, 0])',
  'add(0.5, 0.25) === 0.75',
];
const SORTED = [
  'const r = sorted([3, 1, 2]); assert(Array.isArray(r) && r.length === 3 && r.every((x, i) => i === 0 || r[i - 1] <= x)); assert(r.includes(1) && r.includes(3))',
];
/** What a program of these families does instead of adding; the function is there, and wrong. */
const WRONG = 'function add(a, b) { return 42 }';
const RIGHT = 'function add(a, b) { return a + b }';

const hostile: Hostile[] = [];
const family = (
  name: string,
  outcomes: readonly Outcome[],
  programs: readonly string[],
  tests: readonly string[] = ADD,
): void => {
  for (const program of programs) hostile.push({ family: name, program, tests, outcomes });
};
/** A program that does something when it is evaluated, when it is called, and when its value is used. */
const atAllTimes = (code: string): string[] => [
  `${code};\n${WRONG}`,
  `function add() { ${code}; return 42 }`,
  `function add() { return { valueOf() { ${code}; return 42 }, toString() { ${code}; return '42' } } }`,
];
const LIMITS: readonly Outcome[] = ['out-of-steps', 'out-of-memory'];

// A way out: nothing of the host is there, so that each of these throws, is undefined, or does nothing.
family(
  'host objects',
  ['failed', 'threw'],
  [
    'process.exit(0)',
    'process.mainModule.require("fs")',
    'require("fs").readFileSync("/etc/passwd")',
    'require("node:child_process").execSync("id")',
    'globalThis.process.env',
    'Deno.readTextFileSync("/etc/passwd")',
    'Bun.file("/etc/passwd")',
    'fetch("http://127.0.0.1")',
    'new WebSocket("ws://127.0.0.1")',
    'new XMLHttpRequest()',
    'new Worker("data:,")',
    'WebAssembly.compile(new Uint8Array(8))',
    'navigator.sendBeacon("http://127.0.0.1")',
    'caches.open("x")',
    'std.loadFile("/etc/passwd")',
    'os.exec(["id"])',
    'std.exit(0)',
    'scriptArgs[0]',
    'send("[]")',
    'structuredClone({})',
    'queueMicrotask(() => {})',
    'setTimeout(() => {}, 0)',
    'Buffer.from("x")',
    'localStorage.x',
    'print(1)',
    'load("x.js")',
    'quit(0)',
    'gc()',
    'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)',
    'bjson.read(new ArrayBuffer(8))',
    'globalThis.constructor.constructor("return process")().exit()',
    '(function () { return this })().process.exit()',
    'Function("return process")().exit()',
    'eval("process").exit()',
    '[].constructor.constructor("return fetch")()("http://127.0.0.1")',
    '(async () => {}).constructor("return process")',
    'new (class { static #p = process })()',
  ].flatMap(atAllTimes),
);

family(
  'import',
  ['failed', 'threw', 'syntax'],
  [
    'import fs from "fs"; function add() { return 42 }',
    'import * as std from "std"; import * as os from "os"; os.exec(["id"]);',
    'import { readFile } from "node:fs/promises";',
    'import("fs").then((fs) => fs.readFileSync("/etc/passwd")); function add() { return 42 }',
    'async function add() { const os = await import("os"); return os.exec(["id"]) }',
    'import("data:text/javascript,export default 1"); function add() { return 42 }',
    'const { default: x } = await import("std"); function add() { return 42 }',
    'export * from "std"; function add() { return 42 }',
    'import.meta.url; function add() { return 42 }',
    'import defer * as ns from "x"; function add() { return 42 }',
    'eval("import(\'fs\')"); function add() { return 42 }',
    'import json from "./x.json" with { type: "json" }; function add() { return 42 }',
  ],
);

// Loops: nothing but the limits ends them.
family(
  'loops',
  ['out-of-steps'],
  [
    'while (true);',
    'for (;;) {}',
    'do {} while (1)',
    'a: for (;;) { continue a }',
    'let i = 0; while (i >= 0) i = (i + 1) % 7',
    'for (let i = 0; i < Infinity; i++) Math.sin(i)',
    'const t = Date.now(); while (Date.now() - t < 1000);',
    'while (performance.now() < 1e9);',
    'while (Math.random() !== 2);',
    'for (;;) { try { throw 1 } catch {} finally { continue } }',
    'while (true) { try { null.x } catch {} }',
    'const f = () => { try { f() } finally { f() } }; for (;;) try { (0, () => { throw 1 })() } catch {}',
    'const o = { *[Symbol.iterator]() { for (;;) yield 1 } }; for (const x of o);',
    'const o = { [Symbol.iterator]: () => ({ next: () => ({ done: false }) }) }; const [...x] = { [Symbol.iterator]: () => { for (;;); } }',
    'new Set({ [Symbol.iterator]: () => ({ next: () => ({ done: false, value: 1 }) }) })',
    'Math.max(...{ [Symbol.iterator]() { for (;;); } })',
    'const m = new Map([[1, 1]]); m.forEach((_, k) => { m.delete(k); m.set(k + 1, 1) })',
    'const s = new Set([1]); for (const x of s) { s.delete(x); s.add(x + 1) }',
    'for (const x of (function* () { for (;;) yield })());',
    '({ get x() { for (;;); } }).x',
    'new Proxy({}, { get() { for (;;); } }).x',
    '`${{ toString() { for (;;); } }}`',
    '1 + { valueOf() { for (;;); } }',
    '({}) instanceof { [Symbol.hasInstance]() { for (;;); } }',
    '[2, 1].sort(() => { for (;;); })',
    'JSON.parse("[1]", () => { for (;;); })',
    'JSON.stringify({ toJSON() { for (;;); } })',
    '"a".replace(/a/, () => { for (;;); })',
    'class A { static { for (;;); } }',
    'class B { static x = (() => { for (;;); })() }',
    'var x = (() => { for (;;); })()',
    'eval("for (;;);")',
    'Function("for (;;);")()',
    '(function f() { for (;;) f.name })()',
    'label: while (1) { switch (1) { default: continue label } }',
  ].flatMap((code) => atAllTimes(code).slice(0, 2)),
);

// Functions of the engine itself that would run for hours: their loops are counted, too.
family(
  'long built-in functions',
  LIMITS,
  [
    'Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)',
    'Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)',
    'Array.prototype.lastIndexOf.call({ length: 2 ** 53 - 1 }, 1)',
    'Array.prototype.join.call({ length: 2 ** 53 - 1 }, "")',
    'Array.prototype.reverse.call({ length: 2 ** 53 - 1 })',
    'Array.prototype.fill.call({ length: 2 ** 53 - 1 }, 0)',
    'Array.prototype.copyWithin.call({ length: 2 ** 53 - 1 }, 0, 1)',
    'Array.prototype.sort.call({ length: 2 ** 53 - 1 })',
    'Array.prototype.findLast.call({ length: 2 ** 53 - 1 }, () => false)',
    'Array.prototype.some.call({ length: 2 ** 53 - 1 }, () => false)',
    'Array.prototype.flat.call({ length: 2 ** 53 - 1 })',
    'Array.prototype.shift.call({ length: 2 ** 53 - 1 })',
    'Array.prototype.unshift.call({ length: 2 ** 53 - 2 }, 1)',
    'Array.from({ length: 2 ** 31 })',
    'new Array(2 ** 32 - 1).join("x")',
    'Array(2 ** 32 - 1).indexOf(1)',
    'const s = "a".repeat(1e6); for (;;) s.indexOf("b")',
    'const s = "a".repeat(1e6); s.indexOf("a".repeat(5e5) + "b")',
    'const s = "ab".repeat(2e5); for (;;) s.split("")',
    'const s = "a".repeat(4e5); for (;;) s.replaceAll("a", "bb")',
    'const s = "a".repeat(1e6); for (;;) s.normalize("NFD")',
    'const s = "a".repeat(1e6); for (;;) s.toUpperCase()',
    'const a = new Uint8Array(1e6); for (;;) a.fill(1)',
    'const a = new Uint8Array(1e6); for (;;) a.slice()',
    'const a = new Float64Array(1e5); for (;;) a.sort()',
    'const a = new Array(1e5).fill(0); for (;;) a.concat(a)',
    'let n = 3n; for (;;) n = n * n',
    'let n = 2n ** 400000n; for (;;) String(n * n)',
    'const n = 7n ** 200000n; for (;;) n * n % 1000007n',
    '(2n ** 900000n).toString()',
    'BigInt("9".repeat(900000))',
    'const j = "[" + "1,".repeat(2e5) + "1]"; for (;;) JSON.parse(j)',
    'const a = Array(1e5).fill({ a: 1 }); for (;;) JSON.stringify(a)',
    'let s = "x"; for (;;) s = `${s}${s}`.slice(0, 1e6)',
    'const o = {}; for (let i = 0; ; i++) { o[`k${i % 1e4}`] = i; Object.keys(o) }',
    'let s = "x"; for (let i = 0; i < 1e5; i++) s = `a${s}b`; s.charCodeAt(1)',
    'for (;;) new Date("2020-01-01").toISOString()',
    'for (;;) encodeURIComponent("é".repeat(1e4))',
    'for (;;) parseFloat("1".repeat(1e5))',
    'for (;;) (1e-300).toFixed(100)',
    'eval(`a${"?.b".repeat(50000)}`)',
  ].flatMap((code) => atAllTimes(code).slice(0, 2)),
);

family(
  'patterns that backtrack',
  LIMITS,
  [
    '/(a+)+$/.test(`${"a".repeat(40)}!`)',
    '/^(a|a)*$/.test(`${"a".repeat(60)}b`)',
    '/(.*)*x/.test("a".repeat(60))',
    '/^(([a-z])+.)+[A-Z]([a-z])+$/.test("a".repeat(60))',
    '/(?:a*)*b/.test("a".repeat(60))',
    '/(x+x+)+y/.test("x".repeat(60))',
    '/^(?:(a)|b|\\1)+$/.test(`${"ab".repeat(40)}c`) || /(a*)*\\1b/.test("a".repeat(60))',
    '/(?=(a+)+b)a/.test("a".repeat(60))',
    '/(?<=(a+)+)b/.test(`${"a".repeat(50)}c${"a".repeat(50)}`) || /(a+)+c$/.test(`${"a".repeat(60)}d`)',
    '"a".repeat(60).replace(/(a+)+b/g, "")',
    '"a".repeat(60).split(/(a+)+b/)',
    '"a".repeat(60).match(/(a?){60}a{60}b/)',
    'new RegExp("(a+)+$", "u").test(`${"a".repeat(40)}!`)',
    '[...(`${"a".repeat(60)}!`).matchAll(/(a+)+$/g)]',
    'for (;;) /a{1,1000}b/.test("a".repeat(1e4))',
  ].flatMap((code) => atAllTimes(code).slice(0, 2)),
);

// Memory: the limit of the engine ends them, or a limit of the language that throws, or the steps.
const BIG: readonly Outcome[] = ['failed', 'threw', ...LIMITS];
family(
  'memory',
  BIG,
  [
    'const a = []; for (;;) a.push(new Array(1000).fill(1))',
    'let s = "x"; for (;;) s += s',
    '"x".repeat(2 ** 29)',
    'new ArrayBuffer(2 ** 31)',
    'new Uint8Array(1e9)',
    'new Array(1e8).fill(0)',
    'const a = []; for (;;) a.push({})',
    'const m = new Map(); for (let i = 0; ; i++) m.set(i, i)',
    'const o = {}; for (let i = 0; ; i++) o[i] = i',
    'const a = []; for (;;) a.push(() => a)',
    'const a = []; for (;;) a.push(Symbol("x"))',
    'const a = []; for (;;) a.push(/x/g)',
    'let o = null; for (;;) o = { o }',
    'const a = []; for (;;) a.push((function* () { yield 1 })())',
    'const a = []; for (;;) a.push(2n ** 100000n)',
    'let a = [1]; for (;;) a = [...a, ...a]',
    'let b = new ArrayBuffer(1, { maxByteLength: 2 ** 30 }); b.resize(2 ** 30)',
    'new SharedArrayBuffer(2 ** 30)',
    'const a = []; try { for (;;) a.push(new Array(1000).fill(1)) } catch { for (;;) a.push(1) }',
    'for (;;) try { new Array(1e7).fill(1) } catch {}',
    '"x".padStart(2 ** 30)',
    'Array.from({ length: 1e8 }, (_, i) => i)',
    'JSON.stringify(Array(1e5).fill("x".repeat(1000)))',
    'eval(`[${"1,".repeat(3e6)}]`)',
    'Function(...Array(1e5).fill("a"), "return 1")',
    'new Proxy(Array(1e8).fill(0), {})',
    'Error.stackTraceLimit = 1e9; const f = () => { throw new Error("x".repeat(1e7)) }; f()',
  ].flatMap((code) => atAllTimes(code).slice(0, 2)),
);

// A pattern that is nested too deep is a SyntaxError of the language.
family(
  'recursion',
  [...BIG, 'syntax'],
  [
    'const f = () => f(); f()',
    'const f = (n) => f(n + 1) + f(n + 2); f(0)',
    'function f() { try { f() } catch { f() } } f()',
    'function f() { try { f() } finally { f() } } f()',
    'const f = () => [1].map(f); f()',
    'const f = () => JSON.parse("[1]", f); f()',
    'const f = () => JSON.stringify([1], f); f()',
    'const o = { toString() { return `${o}` } }; `${o}`',
    'const o = { get x() { return this.x } }; o.x',
    'let p = {}; for (let i = 0; i < 20000; i++) p = new Proxy(p, {}); p.x',
    'let p = () => 1; for (let i = 0; i < 20000; i++) p = p.bind(null); p()',
    'class A { constructor() { new A() } } new A()',
    'const f = () => eval("f()"); f()',
    'function* g() { yield* g() } [...g()]',
    'JSON.parse("[".repeat(100000))',
    'JSON.parse(\'{"a":\'.repeat(100000))',
    'let a = []; for (let i = 0; i < 100000; i++) a = [a]; JSON.stringify(a)',
    'let a = []; for (let i = 0; i < 100000; i++) a = [a]; a.flat(Infinity)',
    'let a = []; for (let i = 0; i < 100000; i++) a = [a]; String(a)',
    'new RegExp(`${"(".repeat(50000)}${")".repeat(50000)}`)',
    'new RegExp(`${"(?=".repeat(5000)}a${")".repeat(5000)}`).test("a")',
    'eval(`${"(".repeat(50000)}1${")".repeat(50000)}`)',
    'eval("[".repeat(50000))',
    'eval("{".repeat(50000))',
    'eval("(function(){".repeat(5000))',
    'eval(`${"()=>".repeat(50000)}1`)',
    'eval(`${"!".repeat(50000)}1`)',
    'eval(`${"2**".repeat(50000)}1`)',
    'eval(`${"new ".repeat(50000)}Date`)',
    'const o = { [Symbol.toPrimitive]() { return o + 1 } }; o + 1',
    'let i = [1].values(); for (let k = 0; k < 20000; k++) i = i.map((x) => x); [...i]',
    'const f = () => Reflect.apply(f, null, []); f()',
  ].flatMap((code) => atAllTimes(code).slice(0, 2)),
);

// The tests are in another engine: what the program does to its own language changes nothing there.
const POISONS = [
  'globalThis.assert = () => {}; Object.defineProperty(globalThis, "assert", { value: () => {}, writable: false, configurable: false })',
  'globalThis.console = { assert() {}, log() {} }',
  'JSON.stringify = () => "[false,3,[]]"; JSON.parse = () => [false, 3, []]',
  'Array.prototype.every = () => true; Array.prototype.some = () => true; Array.prototype.includes = () => true',
  'Object.is = () => true; Object.keys = () => []',
  'Object.prototype.valueOf = () => 3; Object.prototype.toString = () => "3"',
  'Number.prototype.valueOf = () => 3; Number.prototype.toString = () => "3"',
  'Object.defineProperty(Object.prototype, "0", { get: () => 3, set() {} })',
  'Array.prototype[Symbol.iterator] = function* () { yield 3 }',
  'Symbol.iterator.description; globalThis.Symbol = () => {}',
  'Function.prototype.call = () => 3; Function.prototype.apply = () => 3',
  'Reflect.apply = () => 3; Reflect.get = () => 3; Reflect.construct = () => 3',
  'Proxy = function () { return 3 }; globalThis.Map = globalThis.Set = function () { return 3 }',
  'Promise.prototype.then = (ok) => ok(3); globalThis.Promise = { resolve: () => 3 }',
  'RegExp.prototype.test = () => true; RegExp.prototype.exec = () => ["3"]',
  'String.prototype.match = () => ["3"]; String.prototype.replace = () => "3"',
  'Error = class {}; Error.prepareStackTrace = () => { throw 3 }; TypeError = Error',
  'Object.freeze(globalThis); Object.freeze(Object.prototype)',
  'Object.setPrototypeOf(globalThis, new Proxy({}, { has: () => true, get: () => () => 3 }))',
  'for (const key of Object.getOwnPropertyNames(globalThis)) try { if (key !== "globalThis") globalThis[key] = () => 3 } catch {}',
  'for (const key of Reflect.ownKeys(Array.prototype)) try { Array.prototype[key] = () => 3 } catch {}',
  'for (const key of Reflect.ownKeys(Object.prototype)) try { Object.prototype[key] = () => 3 } catch {}',
  'delete globalThis.JSON; delete globalThis.Array; delete globalThis.Object',
  'NaN = 3; undefined = 3; Infinity = 3',
  'Math.abs = Math.round = () => 3; Number.isInteger = () => true',
  'eval = () => 3; Function = () => 3',
  'globalThis.module = { exports: { assert: () => {}, add: () => 42, JSON: null } }',
  'exports.assert = () => {}; exports.Object = null; exports.undefined = 3',
  'throw { get name() { return "passed" }, get message() { for (;;); } }',
  'globalThis.add = new Proxy(function () {}, { apply: () => 42, get: () => 42 })',
];
family(
  'poisoned language',
  ['failed', 'threw', ...LIMITS],
  POISONS.flatMap((code) => [
    `${code};\n${WRONG}`,
    `${WRONG}\nfunction poison() { ${code} }\ntry { poison() } catch {}`,
  ]),
);
family(
  'poisoned language, while it is called',
  ['failed', ...LIMITS],
  POISONS.map((code) => `function add(a, b) { try { ${code} } catch {} return 42 }`),
);
family(
  'poisoned language, for a list',
  ['failed', 'threw', ...LIMITS],
  POISONS.slice(0, 27).map((code) => `function sorted(list) { return list }\n${code}`),
  SORTED,
);

// A value that pretends to be another: it comes to the tests as what it is.
family(
  'pretended values',
  ['failed', 'threw', ...LIMITS],
  [
    '{ valueOf: () => 3 }',
    '{ toString: () => "3" }',
    '{ [Symbol.toPrimitive]: () => 3 }',
    'new Number(3)',
    'Object(3)',
    'new Proxy({}, { get: () => 3 })',
    'new Proxy(function () {}, { get: () => 3, apply: () => 3 })',
    'new Proxy([], { get: (t, k) => (k === "length" ? 3 : 3) })',
    '{ get [Symbol.toStringTag]() { return "Number" } }',
    '{ constructor: Number, valueOf: () => 3 }',
    'Object.create(Number.prototype)',
    'Object.setPrototypeOf({}, Number.prototype)',
    '{ then(f) { f(3) } }',
    'Promise.resolve(3)',
    '(async () => 3)()',
    '(function* () { yield 3 })()',
    '() => 3',
    'Symbol("3")',
    '3n',
    '"3"',
    '[3]',
    'new Map([[3, 3]])',
    'new Set([3])',
    'new Date(3)',
    'new WeakRef({ three: 3 })',
    'new Int8Array([3])',
    'class { static [Symbol.hasInstance]() { return true } }',
    'document = { all: 3 }',
    '{ equals: () => true, asymmetricMatch: () => true, deepEqual: () => true }',
    '{ __proto__: { valueOf: () => 3 } }',
  ].map((value) => `function add(a, b) { return ${value.startsWith('{') ? `(${value})` : value} }`),
);
family(
  'pretended lists',
  ['failed', 'threw', ...LIMITS],
  [
    'Object.assign([9, 8, 7], { every: () => true, includes: () => true })',
    'Object.setPrototypeOf([9, 8, 7], { every: () => true, includes: () => true })',
    'new (class extends Array { every() { return true } includes() { return true } })(9, 8, 7)',
    'new Proxy([9, 8, 7], { get: (t, k) => (typeof t[k] === "function" ? () => true : t[k]) })',
    'Object.defineProperty([9, 8, 7], "every", { get: () => () => true })',
    '{ length: 3, every: () => true, includes: () => true }',
    '{ length: 3, every: () => true, includes: () => true, [Symbol.toStringTag]: "Array", __proto__: Array.prototype }',
    'Object.create(Array.prototype, { length: { value: 3 }, every: { value: () => true }, includes: { value: () => true } })',
    'new Uint8Array([9, 8, 7])',
    'Object.assign(list, { every: () => true, includes: () => true })',
    '(list.every = () => true, list.includes = () => true, list)',
    '(Object.defineProperty(list, "every", { value: () => true }), list)',
    '(Object.setPrototypeOf(list, { every: () => true, includes: () => true }), list)',
    '(list.__proto__ = { every: () => true, includes: () => true }, list)',
    '(list["__proto__"] = { every: () => true }, list.reverse())',
  ].map((value) => `function sorted(list) { return ${value.startsWith('{') ? `(${value})` : value} }`),
  SORTED,
);

// Objects that say they are of the expected kind, and hold nothing of what is expected.
for (const [kind, expected] of [
  ['Map', 'new Map([[1, 2], [3, 4]])'],
  ['Set', 'new Set([1, 2])'],
  ['Date', 'new Date(5)'],
  ['RegExp', '/x/'],
  ['Error', 'new Error("x")'],
]) {
  const empty = 'size: { value: 2 }, [Symbol.iterator]: { value: function* () {} }';
  family(
    `pretended ${kind}`,
    ['failed'],
    [
      `const made = () => Object.defineProperty({}, Symbol.toStringTag, { get: () => '${kind}' })`,
      `const made = () => Object.create(${kind}.prototype, { ${empty} })`,
      `const made = () => Object.create(${kind}.prototype, { ${empty}, [Symbol.toStringTag]: { get: () => '${kind}' } })`,
    ],
    [`assert.deepEqual(made(), ${expected})`],
  );
}

// A method toJSON of lists replaces what the program's engine says to the tests' engine. f is the first function that is handed over, number 0.
const forged = (answer: string): string =>
  `let n = 0; const f = function () { if (n++) return f; Array.prototype.toJSON = function () { if (this.length !== 3 || this[0] !== false) return this; delete Array.prototype.toJSON; return ${answer} }; return [9, 8, 7] }`;
const EVERY = `['every', ['f', 0, 'x', 0]]`;
family(
  'forged answers',
  ['failed', ...LIMITS],
  [
    `[false, ['a', [9, 8, 7]], [['__proto__', ['o', [['length', 0], ${EVERY}], false]]]]`,
    `['given', 0, [[0, ['o', [['length', 3], ${EVERY}], false]]]]`,
  ].map(forged),
  ['const r = f([3, 1, 2]); assert(Array.isArray(r) && r.every((x, i) => i === 0 || r[i - 1] <= x))'],
);
for (const name of ['__proto__', 'constructor'])
  family(
    `a forged answer that names ${name}`,
    ['failed', ...LIMITS],
    [
      `[false, ['h', '${name}'], []]`,
      `[false, ['a', [['c', '${name}']]], []]`,
      `['given', '${name}', []]`,
    ].map(forged),
    ['const r = f([3, 1, 2]); assert([r, r[0]].some((x) => x === Array.prototype || x === Array))'],
  );
family(
  'forged calls',
  ['failed', ...LIMITS],
  [
    `let n = 0; const f = (g) => { if (n++) return f; Array.prototype.toJSON = function () { if (this[0] !== 'call') return this; delete Array.prototype.toJSON; return ['call', '__defineGetter__', ['h', '__proto__'], ${EVERY}] }; try { g() } catch {} return [9, 8, 7] }`,
    `let n = 0; const f = (g) => { if (n++) return f; Array.prototype.toJSON = function () { if (this[0] !== 'call') return this; delete Array.prototype.toJSON; return ['call', '__defineGetter__', ['a', []], ${EVERY}] }; try { g() } catch {} return [9, 8, 7] }`,
  ],
  ['assert.deepEqual(f(() => 1), [1, 2, 3])'],
);

// Functions of the tests that a program is given are called and nothing else.
family(
  'what is handed over',
  ['failed', 'threw', ...LIMITS],
  [
    'f.constructor("globalThis.assert = () => {}")()',
    'f.constructor.constructor("globalThis.assert = () => {}")()',
    'f.__proto__.apply = () => 2',
    'f.call.constructor("assert = () => {}")()',
    'Object.getPrototypeOf(f).constructor("assert = () => {}")()',
    'f.caller, f.arguments.callee.caller',
    'f(Object.defineProperty({}, "x", { get() { throw new Error("out") } }))',
    'f(new Proxy({}, { get() { return () => 2 } }))',
    'f(eval), f(Function)',
    'f(f.constructor)("assert = () => {}")',
    'f((...x) => x.constructor.constructor("assert = () => {}")())',
    'for (;;) f(1)',
    'f("x".repeat(2e6))',
    'f(Array(3e5).fill("xxxxxxx"))',
    '(function g(n) { return f({ toJSON: g, n }) + g(n + 1) })(0)',
    'try { f(1) } catch (e) { e.constructor.constructor("assert = () => {}")() }',
    'try { (function deep() { try { deep() } catch (e) { f(e); e.constructor.constructor("assert = () => {}")() } })() } catch {}',
  ].map((code) => `function twice(f, x) { ${code}; return 42 }`),
  [
    'assert.equal(twice((x) => x + 1, 0), 2)',
    'assert.equal(twice((x) => { throw new RangeError("no") }, 0), 2)',
  ],
);

// Ways to end early, or to have the tests say yes before they run.
family(
  'early ends',
  ['failed', 'threw', 'syntax', ...LIMITS],
  [
    `throw "passed"`,
    'throw null',
    'throw undefined',
    'throw { outcome: "passed", ok: true }',
    'throw new Proxy({}, { get() { throw 1 } })',
    'throw Object.create(null)',
    'throw Symbol("x")',
    'return true',
    'await new Promise(() => {})',
    '}\n{ true }',
    '*/ true /*',
    '"use strict"; arguments.callee()',
    '#!/usr/bin/env node',
    '<!-- html comment\nwhile (false);',
    '\u0000',
    '\u2028\u2029',
    '\ud800',
    `${WRONG}\nPromise.reject(new Error("late"))`,
    `${WRONG}\nnew Promise((ok) => ok({ then() { throw 1 } }))`,
    `${WRONG}\n(async () => { for (;;) await 1 })()`,
    `${WRONG}\nPromise.resolve().then(function f() { return Promise.resolve().then(f) })`,
    `${WRONG}\nconst t = { then(r) { r(t) } }; Promise.resolve(t)`,
    'async function add() { return await new Promise(() => {}) }',
    'function* add() { yield 3 }',
    'async function* add() { yield 3 }',
    'class add { constructor() { return 3 } }',
    'const add = 3',
    'const add = undefined',
    'let add',
    'get: add',
    'var add = { call: () => 3, apply: () => 3 }',
    'Object.defineProperty(globalThis, "add", { get() { throw 1 } })',
    'Object.defineProperty(globalThis, "add", { get() { for (;;); } })',
    'with ({}) { var add = () => 42 }',
    '',
    '// nothing',
    'add',
    '"use strict"; undeclared = 3',
    `${WRONG}; console.log("x".repeat(1e7)); console.log = null`,
    `${WRONG}; for (let i = 0; i < 1000; i++) console.log("x".repeat(1e6))`,
    `${WRONG}; new FinalizationRegistry(() => { for (;;); }).register({}, 1)`,
    `${WRONG}; let w = new WeakRef({}); for (let i = 0; i < 100; i++) w.deref()`,
    `${WRONG}; Object.defineProperty(Object.prototype, "then", { get() { return (f) => f(3) } })`,
  ],
);

// What looks like these and is right has to be paid.
family(
  'right',
  ['passed'],
  [
    RIGHT,
    `${RIGHT}\nconsole.log("x".repeat(1000))`,
    `const add = eval("(a, b) => a + b")`,
    'const add = new Function("a", "b", "return a + b")',
    'const add = new Proxy((a, b) => a + b, {})',
    'function add(...list) { return list.reduce((a, b) => a + b) }',
    'function* parts(a, b) { yield a; yield b }\nconst add = (a, b) => [...parts(a, b)].reduce((x, y) => x + y, 0)',
    'module.exports = { add: (a, b) => a + b }',
    'module.exports = function add(a, b) { return a + b }',
    'exports.add = (a, b) => a + b',
    'export function add(a, b) { return a + b }',
    'export default function add(a, b) { return a + b }',
    'export const add = (a, b) => a + b',
    'class Adder { static add = (a, b) => a + b }\nconst { add } = Adder',
    'Array.prototype.sum = function () { return this.reduce((a, b) => a + b, 0) }\nconst add = (...list) => list.sum()',
    'const cache = new Map()\nfunction add(a, b) { const key = `${a},${b}`; if (!cache.has(key)) cache.set(key, a + b); return cache.get(key) }',
    'function add(a, b) { try { return a + b } finally { /x/.test("x") } }',
    'const add = (a, b) => Number(new Date(a * 1000 + b * 1000)) / 1000',
    'function assert() { throw new Error("mine") }\nfunction add(a, b) { return a + b }',
    'const JSON = null; const add = (a, b) => a + b',
    'let n = 0; for (let i = 0; i < 10000; i++) n += i; const add = (a, b) => a + b',
    'const deep = (n) => (n === 0 ? 0 : 1 + deep(n - 1)); const add = (a, b) => a + b + deep(900) - 900',
  ],
);
family(
  'right in place',
  ['passed'],
  [
    'const sorted = (list) => [...list].sort((a, b) => a - b)',
    'const sorted = (list) => list.sort((a, b) => a - b)',
    'const sorted = (list) => list.toSorted()',
    'function sorted(list) { const r = []; for (const x of list) { const i = r.findIndex((y) => y > x); r.splice(i < 0 ? r.length : i, 0, x) } return r }',
    'const sorted = (list) => Array.from(new Float64Array(list).sort())',
    'class List extends Array {}\nconst sorted = (list) => List.from(list).sort((a, b) => a - b)',
  ],
  SORTED,
);

export const HOSTILE: readonly Hostile[] = hostile;
