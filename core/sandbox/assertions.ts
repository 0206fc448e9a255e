/**
 * What tests may use beside the language: `assert` as in Node (`assert/strict` too, by `require`), whose comparisons are written here, and a `console` that writes
 * nothing, but for `console.assert`, which counts as an assertion. The text is evaluated in the tests' engine before any test.
 */
export const ASSERTIONS = `(() => {
  'use strict';
  class AssertionError extends Error {
    name = 'AssertionError';
  }
  const fail = (message, otherwise) => {
    if (message instanceof Error) throw message;
    throw new AssertionError(message ?? otherwise);
  };
  const isObject = (value) => typeof value === 'object' && value !== null;
  const kindOf = (value) => Object.prototype.toString.call(value);
  const fields = (object) => Reflect.ownKeys(object).filter((key) => Object.prototype.propertyIsEnumerable.call(object, key));
  const boxes = [Number, String, Boolean, BigInt, Symbol];
  // Of these nothing can be compared but whether they are the same.
  const opaque = [ArrayBuffer, SharedArrayBuffer, DataView, Promise, WeakMap, WeakSet, WeakRef];
  const view = Object.getPrototypeOf(Int8Array.prototype);

  // What an object is, by what only such objects can do: an object of the answer can say that it is a map, and be no map.
  const does = (prototype, key) => {
    const { get, value } = Object.getOwnPropertyDescriptor(prototype, key);
    return (one) => {
      try {
        Reflect.apply(get ?? value, one, []);
        return true;
      } catch {
        return false;
      }
    };
  };
  const isMap = does(Map.prototype, 'size');
  const isSet = does(Set.prototype, 'size');
  const isDate = does(Date.prototype, 'getTime');
  const isPattern = does(RegExp.prototype, 'source');
  const kinds = [Array.isArray, isMap, isSet, isDate, isPattern, Error.isError];

  /** Deep equality. isStrict: by Object.is and the same prototypes, else by ==. */
  const same = (a, b, isStrict, above = []) => {
    if (Object.is(a, b)) return true;
    if (!isObject(a) || !isObject(b)) return isStrict ? false : !isObject(a) && !isObject(b) && (a == b || (a !== a && b !== b));
    if (above.some(([x, y]) => x === a && y === b)) return true;
    const inner = (x, y) => same(x, y, isStrict, [...above, [a, b]]);
    if (boxes.some((Box) => a instanceof Box || b instanceof Box) && !Object.is(a.valueOf(), b.valueOf())) return false;
    if (opaque.some((Opaque) => a instanceof Opaque || b instanceof Opaque)) return false;
    if (isStrict && Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
    if (kinds.some((isKind) => isKind(a) !== isKind(b)) || kindOf(a) !== kindOf(b)) return false;
    if (isDate(a) && a.getTime() !== b.getTime() && !(Number.isNaN(a.getTime()) && Number.isNaN(b.getTime()))) return false;
    if (isPattern(a) && String(a) !== String(b)) return false;
    if (Error.isError(a) && (a.name !== b.name || a.message !== b.message)) return false;
    if (view.isPrototypeOf(a) && a.length !== b.length) return false;
    if (Array.isArray(a) && a.length !== b.length) return false;
    if (isMap(a) || isSet(a)) {
      if (a.size !== b.size) return false;
      const left = [...b];
      for (const item of a) {
        const at = left.findIndex((other) => inner(item, other));
        if (at < 0) return false;
        left.splice(at, 1);
      }
    }
    const [mine, theirs] = [fields(a), fields(b)];
    return mine.length === theirs.length && mine.every((key) => theirs.includes(key) && inner(a[key], b[key]));
  };

  /** Is the error the one that is expected: by a pattern, a class, a function that checks it, or an object with some of its fields? */
  const fits = (error, expected) => {
    if (expected === undefined || typeof expected === 'string') return true;
    if (expected instanceof RegExp) return expected.test(String(error));
    if (typeof expected === 'function') {
      if (expected.prototype !== undefined && error instanceof expected) return true;
      return !(Error.isPrototypeOf(expected) || expected === Error) && expected(error) === true;
    }
    return Object.keys(expected).every((key) =>
      expected[key] instanceof RegExp && typeof error[key] === 'string' ? expected[key].test(error[key]) : same(error[key], expected[key], true));
  };

  const assert = (value, message) => {
    if (!value) fail(message, 'The value is not truthy.');
  };
  const check = (name, holds) => {
    assert[name] = (a, b, message) => {
      if (!holds(a, b)) fail(message, name + ' does not hold.');
    };
  };
  assert.ok = (value, message) => assert(value, message);
  assert.fail = (message) => fail(message, 'Failed.');
  check('strictEqual', (a, b) => Object.is(a, b));
  check('notStrictEqual', (a, b) => !Object.is(a, b));
  check('equal', (a, b) => a == b || (a !== a && b !== b));
  check('notEqual', (a, b) => !(a == b || (a !== a && b !== b)));
  check('deepStrictEqual', (a, b) => same(a, b, true));
  check('notDeepStrictEqual', (a, b) => !same(a, b, true));
  check('deepEqual', (a, b) => same(a, b, false));
  check('notDeepEqual', (a, b) => !same(a, b, false));
  check('match', (text, pattern) => pattern.test(text));
  check('doesNotMatch', (text, pattern) => !pattern.test(text));
  assert.throws = (call, expected, message) => {
    let error;
    try {
      call();
    } catch (thrown) {
      error = [thrown];
    }
    if (error === undefined) fail(typeof expected === 'string' ? expected : message, 'Nothing was thrown.');
    if (!fits(error[0], expected)) fail(message, 'Another error was thrown.');
  };
  assert.doesNotThrow = (call) => void call();
  assert.rejects = async (given, expected, message) => {
    let error;
    try {
      await (typeof given === 'function' ? given() : given);
    } catch (thrown) {
      error = [thrown];
    }
    if (error === undefined) fail(typeof expected === 'string' ? expected : message, 'Nothing was rejected.');
    if (!fits(error[0], expected)) fail(message, 'Another error was thrown.');
  };
  assert.doesNotReject = async (given) => void (await (typeof given === 'function' ? given() : given));
  assert.AssertionError = AssertionError;
  const strict = Object.assign((value, message) => assert(value, message), assert, {
    equal: assert.strictEqual,
    notEqual: assert.notStrictEqual,
    deepEqual: assert.deepStrictEqual,
    notDeepEqual: assert.notDeepStrictEqual,
  });
  assert.strict = strict.strict = strict;

  const MODULES = { assert, 'assert/strict': strict };
  const quiet = () => {};
  Object.assign(globalThis, {
    assert,
    console: { ...Object.fromEntries(['log', 'info', 'warn', 'error', 'debug', 'table', 'dir', 'trace'].map((name) => [name, quiet])), assert },
    require: (name) => {
      const found = MODULES[String(name).replace(/^node:/, '')];
      if (found) return found;
      throw new Error('Tests may require assert alone.');
    },
  });
})()`;

/** What the answer's engine has beside the language: a console that writes nothing, and the `module` of CommonJS. */
export const SURROUNDINGS = `(() => {
  const quiet = () => {};
  globalThis.console = Object.fromEntries(['log', 'info', 'warn', 'error', 'debug', 'table', 'dir', 'trace', 'assert', 'time', 'timeEnd'].map((name) => [name, quiet]));
  globalThis.module = { exports: {} };
  globalThis.exports = globalThis.module.exports;
})()`;
