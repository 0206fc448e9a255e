/**
 * The program that joins two QuickJS engines: one runs the tests, the other what a model wrote. They share no memory. Values go from one to the other
 * as text, so that nothing which the answer's engine holds can change what the tests' engine does.
 *
 * - Data (primitives, arrays, plain objects, maps, sets, dates, patterns, errors, typed arrays) goes as a copy. What a function changes in its arguments is
 *   written back into the caller's own objects after the call.
 * - Functions go as references, promises as promises that settle when the original does.
 * - From the answer to the tests all other objects (instances of classes, generators, objects with methods) go as proxies, which ask the answer's engine. From the tests
 *   to the answer they go as copies of their own fields: the tests' engine answers calls of functions that it handed over, and nothing else.
 *
 * The text is evaluated in both engines before anything else, and its value is a function `(send, isTests) => receive`, where `send(text)` asks the other engine and
 * `receive(text)` answers it.
 */
export const MEMBRANE = `(send, isTests) => {
  'use strict';
  const { apply, construct, defineProperty, deleteProperty, get, getOwnPropertyDescriptor, getPrototypeOf, has, ownKeys, set } = Reflect;
  const { parse, stringify } = JSON;
  const { isArray, prototype: arrays } = Array;
  const isIndex = (value) => typeof value === 'number' && value >= 0 && value % 1 === 0;
  const { create, is, keys, prototype: objects } = Object;
  const known = Symbol, run = globalThis.eval;
  const method = (name, of) => (self, ...given) => apply(of[name], self, given);
  const [forEachOfMap, forEachOfSet, timeOf] = [[Map, 'forEach'], [Set, 'forEach'], [Date, 'getTime']].map(([{ prototype }, name]) => {
    const own = prototype[name];
    return (self, ...given) => apply(own, self, given);
  });
  const promised = Promise.prototype.then, then = (promise, ...given) => apply(promised, promise, given);
  const lengthOf = getOwnPropertyDescriptor(getPrototypeOf(Int8Array.prototype), 'length').get;
  const kindOf = getOwnPropertyDescriptor(getPrototypeOf(Int8Array.prototype), Symbol.toStringTag).get;
  const sourceOf = getOwnPropertyDescriptor(RegExp.prototype, 'source').get, flagsOf = getOwnPropertyDescriptor(RegExp.prototype, 'flags').get;
  const works = (operation, ...given) => { try { operation(...given); return true; } catch { return false; } };
  const isError = Error.isError ?? ((value) => value instanceof Error);
  const ERRORS = { Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };
  const TYPED = { Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, Float32Array, Float64Array, BigInt64Array, BigUint64Array };
  const PROTOTYPES = Object.entries({ Object, Function, Array, Map, Set, Date, RegExp, Promise, ...ERRORS, ...TYPED }).map(([name, { prototype }]) => [name, prototype]);
  // A function that makes code of texts would let the answer run code among the tests.
  const makers = new Set([run, ...[function () {}, async () => {}, function* () {}, async function* () {}].map((f) => f.constructor)]);
  const SYMBOLS = Object.getOwnPropertyNames(Symbol).filter((name) => typeof Symbol[name] === 'symbol');

  // What was handed over, by number, and what came from the other engine.
  const own = [], numbers = new Map(), foreign = new Map(), arrived = new Map();
  const numberOf = (value) => {
    if (!numbers.has(value)) numbers.set(value, own.push(value) - 1);
    return numbers.get(value);
  };
  // The answer can forge any message (a toJSON of its lists is enough): what it names by a key such as "__proto__" must not be the receiver’s.
  const at = (list, number) => {
    if (!isArray(list) || !isIndex(number) || number >= list.length) throw new TypeError('What the other engine names is not there.');
    return list[number];
  };
  const came = (number, make) => {
    if (!arrived.has(number)) {
      const made = make();
      arrived.set(number, made);
      foreign.set(made, number);
    }
    return arrived.get(number);
  };

  const fields = (object) => ownKeys(object).filter((key) => typeof key === 'string' && getOwnPropertyDescriptor(object, key)?.enumerable);
  /** Nothing but data: no methods, no accessors. */
  const isRecord = (object) => {
    const prototype = getPrototypeOf(object);
    if (prototype !== null && prototype !== objects) return false;
    return ownKeys(object).every((key) => {
      const field = getOwnPropertyDescriptor(object, key);
      return field === undefined || ('value' in field && typeof field.value !== 'function');
    });
  };
  const settles = (promise, number) => then(
    promise,
    (value) => void send(stringify(['settle', number, true, encode(value)])),
    (error) => void send(stringify(['settle', number, false, encode(error)])),
  );

  /** A value as JSON. seen: the objects above it, by their place in the message. isNew: an object that the answer's constructor made. */
  function encode(value, seen = new Map(), isNew = false) {
    switch (typeof value) {
      case 'string':
      case 'boolean':
        return value;
      case 'undefined':
        return ['u'];
      case 'bigint':
        return ['b', String(value)];
      case 'number':
        return value - value === 0 && !is(value, -0) ? value : ['n', is(value, -0) ? '-0' : String(value)];
      case 'symbol': {
        const name = SYMBOLS.find((one) => known[one] === value);
        if (name) return ['y', name];
        const key = known.keyFor(value);
        return key === undefined ? mentioned(value, 's', value.description) : ['k', key];
      }
    }
    if (value === null) return null;
    if (foreign.has(value)) return ['h', foreign.get(value)];
    if (typeof value === 'function') {
      if (isTests && makers.has(value)) throw new TypeError('A function that makes code cannot be handed over.');
      return mentioned(value, 'f', String(value.name), Number(value.length) || 0);
    }
    if (seen.has(value)) return ['c', seen.get(value)];
    if (isNew && !isTests) return mentioned(value, 'l');
    const inner = (one) => encode(one, seen);
    seen.set(value, seen.size);
    if (isArray(value)) {
      const items = [];
      for (let i = 0; i < value.length; i++) items.push(has(value, i) ? inner(value[i]) : ['-']);
      return ['a', items];
    }
    if (works(forEachOfMap, value, () => {})) {
      const items = [];
      forEachOfMap(value, (item, key) => void items.push([inner(key), inner(item)]));
      return ['m', items];
    }
    if (works(forEachOfSet, value, () => {})) {
      const items = [];
      forEachOfSet(value, (item) => void items.push(inner(item)));
      return ['e', items];
    }
    if (works(timeOf, value)) return ['d', inner(timeOf(value))];
    const kind = apply(kindOf, value, []);
    if (kind !== undefined) {
      const items = [];
      for (let i = 0; i < apply(lengthOf, value, []); i++) items.push(inner(value[i]));
      return ['t', kind, items];
    }
    const prototype = getPrototypeOf(value);
    if (prototype === RegExp.prototype) return ['r', apply(sourceOf, value, []), apply(flagsOf, value, [])];
    if (isError(value) && (isTests || PROTOTYPES.some(([, one]) => one === prototype)))
      return ['x', String(value.name), String(value.message)];
    if (works(then, value)) {
      if (!numbers.has(value)) settles(value, numberOf(value));
      return ['p', numberOf(value)];
    }
    if (isTests || isRecord(value)) {
      const items = fields(value).map((key) => [key, inner(get(value, key))]);
      return ['o', items, prototype === null];
    }
    seen.delete(value);
    return mentioned(value, 'l');
  }
  const mentioned = (value, kind, ...more) => [kind, numberOf(value), ...more];

  /** The value of encode’s JSON. seen: the objects so far, in the order in which they were begun. */
  function decode(json, seen = []) {
    if (typeof json !== 'object' || json === null) return json;
    const [kind, a, b, c] = json;
    const inner = (one) => decode(one, seen);
    const begun = (object) => {
      seen.push(object);
      return object;
    };
    switch (kind) {
      case 'u':
        return undefined;
      case 'b':
        return BigInt(a);
      case 'n':
        return Number(a);
      case 'y':
        if (!SYMBOLS.includes(a)) break;
        return known[a];
      case 'k':
        return known.for(a);
      case 's':
        return came(a, () => known(b));
      case 'h':
        return at(own, a);
      case 'c':
        return at(seen, a);
      case 'a': {
        const made = begun([]);
        made.length = a.length;
        a.forEach((one, i) => {
          if (!isArray(one) || one[0] !== '-') made[i] = inner(one);
        });
        return made;
      }
      case 'm': {
        const made = begun(new Map());
        for (const [key, item] of a) {
          const at = inner(key);
          made.set(at, inner(item));
        }
        return made;
      }
      case 'e': {
        const made = begun(new Set());
        for (const item of a) made.add(inner(item));
        return made;
      }
      case 'd':
        return begun(new Date(inner(a)));
      case 't': {
        const made = begun(new TYPED[a](b.length));
        b.forEach((one, i) => {
          made[i] = inner(one);
        });
        return made;
      }
      case 'r':
        return begun(new RegExp(a, b));
      case 'x': {
        const Made = ERRORS[a] ?? Error;
        const made = begun(new Made(b));
        if (made.name !== a) defineProperty(made, 'name', { value: a, writable: true, configurable: true });
        return made;
      }
      case 'o': {
        const made = begun(b ? create(null) : {});
        for (const [key, item] of a)
          defineProperty(made, key, { value: inner(item), writable: true, enumerable: true, configurable: true });
        return made;
      }
      case 'p': {
        let ends;
        const promise = came(a, () => new Promise((...both) => {
          ends = both;
        }));
        if (ends) waiting.set(a, ends);
        return begun(promise);
      }
      case 'f':
        return came(a, () => isTests ? proxyOf(a, function () {}.bind()) : calling(a, b, c));
      case 'l':
        return came(a, () => proxyOf(a, {}));
    }
    throw new TypeError('What came from the other engine is no value.');
  }
  const waiting = new Map();

  /** The other engine’s answer; throws what it threw, and writes what it changed in the arguments back into them. */
  function ask(message, given = []) {
    const [threw, value, changes] = parse(send(stringify(message)));
    for (const [place, json] of changes ?? []) overwrite(at(given, place), decode(json));
    if (threw === 'given') return at(given, value);
    const decoded = decode(value);
    if (threw) throw decoded;
    return decoded;
  }
  const asked = (message, given) => ask([...message, given.map((one) => encode(one))], given);

  /** A function of the tests, as the answer sees it. */
  const calling = (number, name, length) => {
    const made = function (...given) {
      return asked(['call', number, encode(this)], given);
    };
    defineProperty(made, 'name', { value: name });
    defineProperty(made, 'length', { value: length });
    return made;
  };

  /** An object or a function of the answer, as the tests see it. */
  const proxyOf = (number, target) => new Proxy(target, {
    apply: (_, self, given) => asked(['call', number, encode(self)], given),
    construct: (_, given) => asked(['construct', number, null], given),
    get: (_, key) => ask(['get', number, encode(key)]),
    set: (_, key, value) => ask(['set', number, encode(key), encode(value)]),
    has: (_, key) => ask(['has', number, encode(key)]),
    deleteProperty: (_, key) => ask(['delete', number, encode(key)]),
    defineProperty: (_, key, { value }) => ask(['set', number, encode(key), encode(value)]),
    ownKeys: () => ask(['keys', number]),
    getOwnPropertyDescriptor: (_, key) => {
      const field = ask(['field', number, encode(key)]);
      return field && { value: field[1], writable: true, enumerable: field[0], configurable: true };
    },
    getPrototypeOf: () => {
      const [name, prototype] = ask(['prototype', number]);
      return name === null ? prototype : PROTOTYPES.find(([one]) => one === name)[1];
    },
  });

  const kinds = [isArray, ...[Map, Set, Date].map((Kind) => (value) => value instanceof Kind), (value) => apply(kindOf, value, []) !== undefined];
  const isRecordOrList = (value) => typeof value === 'object' && value !== null && !foreign.has(value);
  /** Gives an object the content of a copy, and keeps the objects inside where both have them. */
  function overwrite(target, copy) {
    const merged = (mine, theirs) => {
      const alike = isRecordOrList(mine) && isRecordOrList(theirs) && isArray(mine) === isArray(theirs) && getPrototypeOf(mine) === getPrototypeOf(theirs);
      if (!alike || !(isArray(mine) || getPrototypeOf(mine) === objects)) return theirs;
      overwrite(mine, theirs);
      return mine;
    };
    if (!isRecordOrList(target) || kinds.some((isKind) => isKind(target) !== isKind(copy)))
      throw new TypeError('An argument cannot become another kind of object.');
    if (target instanceof Map) {
      target.clear();
      copy.forEach((item, key) => target.set(key, item));
    } else if (target instanceof Set) {
      target.clear();
      copy.forEach((item) => target.add(item));
    } else if (target instanceof Date) target.setTime(copy.getTime());
    else {
      for (const key of fields(target)) if (!has(copy, key)) deleteProperty(target, key);
      for (const key of fields(copy)) {
        const value = merged(getOwnPropertyDescriptor(target, key)?.value, copy[key]);
        defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
      }
      if (isArray(target)) target.length = copy.length;
    }
  }

  function called(number, self, given, isNew) {
    const before = given.map((one) => isRecordOrList(one) ? stringify(encode(one)) : undefined);
    const changes = () => given.flatMap((one, place) => {
      if (before[place] === undefined) return [];
      const json = encode(one);
      return stringify(json) === before[place] ? [] : [[place, json]];
    });
    try {
      const value = isNew ? construct(at(own, number), given) : apply(at(own, number), self, given);
      const place = isRecordOrList(value) ? given.indexOf(value) : -1;
      return place < 0 ? [false, encode(value, undefined, isNew), changes()] : ['given', place, changes()];
    } catch (error) {
      return [true, encode(error), changes()];
    }
  }

  /** The value of a top-level name of the program, or of what it exports. */
  const lookup = (name) => {
    try {
      const value = run(name);
      if (value !== undefined) return value;
    } catch {}
    const { exports } = globalThis.module;
    return exports?.[name] ?? (exports?.name === name ? exports : undefined);
  };
  const OPERATIONS = {
    get: (number, key) => get(own[number], decode(key)),
    set: (number, key, value) => set(own[number], decode(key), decode(value)),
    has: (number, key) => has(own[number], decode(key)),
    delete: (number, key) => deleteProperty(own[number], decode(key)),
    keys: (number) => ownKeys(own[number]).filter((key) => getOwnPropertyDescriptor(own[number], key)),
    field: (number, key) => {
      const field = getOwnPropertyDescriptor(own[number], decode(key));
      return field && [field.enumerable, get(own[number], decode(key))];
    },
    prototype: (number) => {
      const prototype = getPrototypeOf(own[number]);
      const name = PROTOTYPES.find(([, one]) => one === prototype)?.[0] ?? null;
      return [name, name === null ? prototype : null];
    },
    lookup,
  };

  /** Gives the tests the answer’s top-level names, but for those that the engine has itself. */
  const bind = (names, entry) => {
    for (const name of names) {
      if (name in globalThis && name !== entry) continue;
      const value = ask(['lookup', name]);
      if (value !== undefined || name === entry) defineProperty(globalThis, name, { value, writable: true, configurable: true });
    }
  };

  return (text, isHost) => {
    const [operation, number, self, given] = parse(text);
    if (isHost) return stringify(bind(number, self) ?? null);
    if (operation === 'settle') {
      const [, promise, isKept, value] = parse(text);
      const ends = waiting.get(promise);
      waiting.delete(promise);
      ends?.[isKept ? 0 : 1](decode(value));
      return 'null';
    }
    if (operation === 'call') return stringify(called(number, decode(self), given.map((one) => decode(one)), false));
    if (isTests) throw new TypeError('The tests answer calls alone.');
    if (operation === 'construct') return stringify(called(number, undefined, given.map((one) => decode(one)), true));
    try {
      const [, ...values] = parse(text);
      return stringify([false, encode(OPERATIONS[operation](...values))]);
    } catch (error) {
      return stringify([true, encode(error)]);
    }
  };
}`;
