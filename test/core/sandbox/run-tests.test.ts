// biome-ignore-all lint/suspicious/noTemplateCurlyInString: programs are texts
/** Programs and their tests in two engines: what goes between them, and what ends a run. */
import { expect, test } from 'vitest';
import { quickJs } from '../../../core/sandbox/quickjs.ts';
import { parses, runTests } from '../../../core/sandbox/run-tests.ts';

const run = (program: string, ...tests: string[]) =>
  runTests(quickJs(), program, tests, { steps: 2_000_000 });

const PASSING: [string, string, ...string[]][] = [
  [
    'numbers',
    'const same = (x) => x',
    'Object.is(same(-0), -0)',
    'Number.isNaN(same(NaN))',
    'same(Infinity) === Infinity',
    'same(0.1) === 0.1',
  ],
  [
    'primitives',
    'const same = (x) => x',
    'same(10n ** 30n) === 10n ** 30n',
    'same(undefined) === undefined',
    'same(null) === null',
    'same("\\ud800\\u0000é") === "\\ud800\\u0000é"',
  ],
  [
    'symbols',
    'const same = (x) => x, own = Symbol("a"); const mine = () => own',
    'same(Symbol.iterator) === Symbol.iterator',
    'same(Symbol.for("x")) === Symbol.for("x")',
    'mine() === mine() && mine().description === "a"',
  ],
  [
    'the caller’s own objects and functions come back as they are',
    'const same = (x) => x; const first = (list) => list[0]',
    'const a = [1]; assert(same(a) === a)',
    'const f = () => 1; assert(same(f) === f && first([f]) === f)',
  ],
  [
    'data',
    'const data = () => ({ a: new Map([[1, { b: new Set([1]) }]]), d: new Date(5), r: /x/gi, t: new Uint8Array([1, 2]), l: [1, , 3] })',
    'assert.deepStrictEqual(data(), { a: new Map([[1, { b: new Set([1]) }]]), d: new Date(5), r: /x/gi, t: new Uint8Array([1, 2]), l: [1, , 3] })',
    '!(1 in data().l) && data().l.length === 3',
  ],
  [
    'shared and circular data',
    'const knot = () => { const a = [1]; const o = { a, b: a }; o.self = o; return o }',
    'const k = knot(); assert(k.self === k && k.a === k.b)',
  ],
  [
    'a field called __proto__ is a field',
    'const own = () => JSON.parse(\'{"__proto__": {"x": 1}}\')',
    'assert(own().x === undefined && Object.keys(own())[0] === "__proto__")',
  ],
  [
    'what a program gives an argument as __proto__ is a field, too',
    'const put = (o) => Object.defineProperty(o, "__proto__", { value: { ok: () => true }, enumerable: true })',
    'const o = {}; put(o); assert(o.ok === undefined && Object.getPrototypeOf(o) === Object.prototype)',
  ],
  [
    'functions that make code are not handed over',
    'const call = (f) => f([])("return 1")',
    'assert.throws(() => call((x) => x.constructor.constructor), /makes code/)',
  ],
  [
    'changes in place',
    'function rotate(m) { m.reverse(); m[0].push(9); } const put = (map, o) => { map.set("a", 1); o.x = 2; delete o.y }',
    'const m = [[1], [2]]; const row = m[0]; rotate(m); assert.deepEqual(m, [[2, 9], [1]]); assert.deepEqual(row, [2, 9])',
    'const map = new Map(), o = { y: 1 }; put(map, o); assert.deepEqual([...map], [["a", 1]]); assert.deepEqual(o, { x: 2 })',
  ],
  [
    'changes in place before a throw',
    'function clear(list) { list.length = 0; throw new Error("after") }',
    'const a = [1, 2]; assert.throws(() => clear(a), /after/); assert.deepEqual(a, [])',
  ],
  [
    'callbacks',
    'const map = (list, f) => list.map((x) => f(x)); const later = (f) => (x) => f(f(x))',
    'assert.deepEqual(map([1, 4], Math.sqrt), [1, 2])',
    'later((x) => x * 3)(2) === 18',
    'assert.throws(() => map([1], () => { throw new RangeError("no") }), RangeError)',
  ],
  [
    'callbacks that change their arguments',
    'const each = (list, f) => { for (const x of list) f(x); return list }',
    'assert.deepEqual(each([{ n: 1 }], (o) => { o.n++ }), [{ n: 2 }])',
  ],
  [
    'closures',
    'const counter = () => { let n = 0; return { up: () => ++n, get n() { return n } } }',
    'const c = counter(); c.up(); c.up(); assert(c.n === 2)',
  ],
  [
    'objects with methods live on',
    'const bag = () => ({ list: [], put(x) { this.list.push(x); return this } })',
    'const b = bag(); b.put(1).put(2); assert.deepEqual(b.list, [1, 2])',
  ],
  [
    'classes',
    'class Stack { #list = []; static of(...x) { const s = new Stack(); x.forEach((y) => s.push(y)); return s } push(x) { this.#list.push(x); return this } get size() { return this.#list.length } } class Small extends Stack {}',
    'const s = new Stack(); assert(s.push(1).push(2) === s && s.size === 2 && s instanceof Stack && !(s instanceof Small))',
    'assert(Stack.of(1, 2, 3).size === 3 && new Small() instanceof Stack && new Small().constructor.name === "Small")',
  ],
  [
    'fields of an instance',
    'class Point { constructor(x) { this.x = x } }',
    'const p = new Point(1); p.x = 5; p.y = 2; assert.deepEqual(Object.keys(p), ["x", "y"]); assert("x" in p && delete p.x && !("x" in p)); assert.deepEqual(JSON.parse(JSON.stringify(p)), { y: 2 })',
  ],
  [
    'a class of a list',
    'class List extends Array { sum() { return this.reduce((a, b) => a + b, 0) } }',
    'const l = new List(); l.push(1, 2); assert(l.sum() === 3 && l.length === 2)',
  ],
  [
    'generators',
    'function* upTo(n) { for (let i = 0; i < n; i++) yield i }',
    'assert.deepEqual([...upTo(3)], [0, 1, 2])',
    'const g = upTo(9); g.next(); assert.deepEqual(g.next(), { value: 1, done: false })',
  ],
  [
    'promises',
    'const twice = async (x) => 2 * (await x); const fails = async () => { throw new TypeError("no") }',
    'assert(await twice(2) === 4 && await twice(Promise.resolve(3)) === 6)',
    'await assert.rejects(fails, TypeError)',
    'assert.deepEqual(await Promise.all([1, 2].map(twice)), [2, 4])',
  ],
  [
    'asynchronous callbacks',
    'const retry = async (f) => { for (;;) try { return await f() } catch {} }',
    'let n = 0; assert(await retry(async () => { if (++n < 3) throw 0; return n }) === 3)',
  ],
  [
    'errors',
    'class Own extends Error { constructor(m) { super(m); this.name = "Own"; this.code = 7 } } const f = (x) => { throw x ? new Own("mine") : new RangeError("far") }',
    'assert.throws(() => f(1), Own)',
    'assert.throws(() => f(1), { code: 7, message: /mine/ })',
    'assert.throws(() => f(0), RangeError)',
    'assert.throws(() => f(0), (e) => e instanceof Error && e.message === "far")',
  ],
  [
    'instances of the tests’ classes are read as data',
    'const sum = (node) => (node ? node.value + sum(node.next) : 0)',
    'class Node { constructor(value, next = null) { this.value = value; this.next = next } } assert(sum(new Node(1, new Node(2))) === 3)',
  ],
  [
    'node:assert by require, as many sets have it',
    'const add = (a, b) => a + b',
    "const assert = require('node:assert');\nfunction test() {\n  let candidate = add;\n  assert.deepEqual(candidate(1, 2), 3);\n}\ntest();",
  ],
  [
    'loose and strict comparison, as in Node',
    'const one = () => "1"',
    'assert.equal(one(), 1); assert.throws(() => assert.strictEqual(one(), 1)); assert.deepEqual([one()], [1]); assert.throws(() => assert.deepStrictEqual([one()], [1]))',
  ],
  [
    'each test has its own constants',
    'const f = () => 1',
    'const x = f(); assert(x === 1)',
    'const x = f(); assert(x === 1)',
  ],
  ['console.assert counts', 'const f = () => 1', 'console.assert(f() === 1); console.log(f())'],
];

test.each(PASSING)('%s', (_, program, ...tests) => {
  expect(run(program, ...tests)).toMatchObject({ outcome: 'passed', failed: null });
});

test.each([
  ['an assertion', 'const f = () => 1', 'assert(f() === 2)'],
  ['a value that is false', 'const f = () => 1', 'f() === 2'],
  ['console.assert', 'const f = () => 1', 'console.assert(f() === 2)'],
  ['what waits for ever', 'const f = () => new Promise(() => {})', 'await f()'],
  ['a promise as its value', 'const f = async () => 1', 'f().then((x) => assert(x === 2))'],
  ['a promise of false as its value', 'const f = async () => 1', 'f().then((x) => x === 2)'],
  ['boxes of other values', 'const f = () => 1', 'assert.deepEqual(new Number(f()), new Number(2))'],
  [
    'what cannot be compared',
    'const f = () => new ArrayBuffer(4)',
    'assert.deepEqual(f(), new Uint8Array([1, 2, 3, 4]).buffer)',
  ],
  ['a rejection', 'const f = async () => { throw 1 }', 'await f()'],
  ['a name that is not there', 'const g = () => 1', 'f()'],
  ['a class that is another', 'class A {}', 'assert.throws(() => { throw new TypeError("x") }, RangeError)'],
  ['no throw', 'const f = () => 1', 'assert.throws(f)'],
  [
    'data that differs within',
    'const f = () => ({ a: [{ b: new Map([[1, 2]]) }] })',
    'assert.deepStrictEqual(f(), { a: [{ b: new Map([[1, 3]]) }] })',
  ],
  ['a list with a hole', 'const f = () => [1, , 3]', 'assert.deepStrictEqual(f(), [1, undefined, 3])'],
])('a test fails by %s', (_, program, failing) => {
  expect(run(program, 'true', failing, 'true')).toMatchObject({ outcome: 'failed', failed: 1 });
});

test('a name of the language is the program’s only where `entry` says so', () => {
  const program = 'function escape(text) { return `[${text}]` }';
  const tests = ['escape("a") === "[a]"'];
  expect(runTests(quickJs(), program, tests).outcome).toBe('failed');
  expect(runTests(quickJs(), program, tests, { entry: 'escape' }).outcome).toBe('passed');
});

test('time stands still, chance is the same for all, and there is one time zone', () => {
  const now =
    '[Date.now(), new Date().getTimezoneOffset(), String(new Date(0)), typeof Intl, Math.random()].join()';
  const zone = 'Thu Jan 01 1970 00:00:00 GMT+0000';
  const program = `const now = () => ${now}; const first = now()`;
  // 2000-01-01T00:00:00Z is 10,957 days after 1970.
  const expected = `assert(now().startsWith("${10_957 * 86_400_000},0,${zone}"))`;
  expect(run(program, expected, 'assert(now().split(",")[3] === "undefined")').outcome).toBe('passed');
  const chance = [0, 1].map(() => run('const x = Math.random()', 'assert(x < 1)').steps);
  expect(chance[0]).toBe(chance[1]);
});

test('a program’s steps are its own: what ran before leaves nothing', () => {
  const one = run('const f = () => [1, 2, 3].map((x) => x + 1)', 'assert.deepEqual(f(), [2, 3, 4])');
  for (const before of ['const a = []; for (let i = 0; i < 300000; i++) a.push({ i })', 'for (;;);', '('])
    run(before, 'true');
  expect(run('const f = () => [1, 2, 3].map((x) => x + 1)', 'assert.deepEqual(f(), [2, 3, 4])')).toEqual(one);
});

test('the limits: steps, memory, calls between the engines, and messages', () => {
  expect(run('for (;;);', 'true')).toMatchObject({ outcome: 'out-of-steps', failed: null });
  expect(run('const f = () => { for (;;); }', 'true', 'f()')).toMatchObject({
    outcome: 'out-of-steps',
    failed: 1,
  });
  expect(run('const f = (g) => g()', 'const g = () => f(g); try { g() } catch {}').outcome).toBe(
    'out-of-memory',
  );
  expect(runTests(quickJs(), 'const f = () => "x".repeat(2 ** 21)', ['f()']).outcome).toBe('out-of-memory');
  const growing = 'const a = []; for (;;) a.push("x".repeat(100000) + a.length)';
  expect(runTests(quickJs(), growing, ['true']).outcome).toBe('out-of-memory');
  // Calls may be as deep as most programs need, and the program can catch its own overflow.
  expect(run('const deep = (n) => (n ? 1 + deep(n - 1) : 0)', 'deep(1000) === 1000').outcome).toBe('passed');
  expect(
    run('const deep = () => { try { return 1 + deep() } catch { return 0 } }', 'deep() > 1000').outcome,
  ).toBe('passed');
});

test('tests that do not parse are known without being run', () => {
  expect(parses(quickJs(), 'const x = await f(); assert(x)')).toBe(true);
  expect(parses(quickJs(), 'for (;;);')).toBe(true);
  expect(parses(quickJs(), 'assert(f(')).toBe(false);
  expect(parses(quickJs(), 'assert f() == 1')).toBe(false);
});
