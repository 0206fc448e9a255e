/**
 * Runs a program and says what it wrote: the tool `run_javascript`. It has the language and a console, and neither a clock, chance, files nor a network. What it
 * comes to is the same on every machine, so that an audit runs it again.
 */
import { type Bytes, bytesOf, Engine, type Image, imageOf, type Limit, LimitReached } from './vm.ts';

/** Steps of the engine: some ten milliseconds of a core. */
export const TOOL_STEPS = 2_000_000;
/** Bytes of what a program writes and comes to, in UTF-8, of which the rest is left out. */
export const MOST_WRITTEN = 4096;
/** Characters of a program. */
const LONGEST_PROGRAM = 1 << 16;

/** What a program came to. */
export interface ProgramRun {
  /** What it wrote to its console, and after it the value of its last expression, or the error that it threw. */
  readonly text: string;
  /** `waits`: it awaits what never comes. `too-long`: it has more than 65,536 characters, and was not run. */
  readonly outcome: 'ended' | 'threw' | 'syntax' | 'waits' | 'too-long' | Limit;
  /** Whether some of the text was left out. */
  readonly cut: boolean;
  /** Steps that it took. */
  readonly steps: number;
}

/**
 * The console, and what shows a value: `receive` is given the value that a program came to and whether it was thrown, or nothing, and answers what was written so
 * far with it. Everything that it needs is taken before the program runs.
 */
const CONSOLE = `() => {
  'use strict';
  const { apply, ownKeys, getOwnPropertyDescriptor, getPrototypeOf } = Reflect;
  const { isArray } = Array, { is } = Object, { stringify } = JSON, text = String;
  const join = (list, mark) => { let all = ''; for (let i = 0; i < list.length; i++) all += (i ? mark : '') + list[i]; return all; };
  const own = (prototype, name) => { const f = prototype[name]; return (self, ...given) => apply(f, self, given); };
  const forEachOfMap = own(Map.prototype, 'forEach'), forEachOfSet = own(Set.prototype, 'forEach'), iso = own(Date.prototype, 'toISOString');
  const source = own(RegExp.prototype, 'toString'), slice = own(String.prototype, 'slice');
  const tried = (f, otherwise) => { try { return f(); } catch { return otherwise; } };
  const MOST = 64, DEEPEST = 4, ROOM = ${4 * MOST_WRITTEN};
  const show = (value, depth, above) => {
    if (typeof value === 'string') return depth ? stringify(value) : value;
    if (typeof value === 'bigint') return text(value) + 'n';
    if (typeof value === 'symbol') return text(value);
    if (typeof value === 'function') return '[function]';
    if (typeof value !== 'object' || value === null) return is(value, -0) ? '-0' : text(value);
    for (let i = 0; i < above.length; i++) if (above[i] === value) return '[circular]';
    if (tried(() => value instanceof Error, false)) return tried(() => text(value.name) + ': ' + text(value.message), '[error]');
    if (depth >= DEEPEST) return isArray(value) ? '[…]' : '{…}';
    const inner = (one) => show(one, depth + 1, [...above, value]);
    const items = [];
    const add = (item) => { if (items.length < MOST) items[items.length] = item; else items[MOST] = '…'; };
    if (isArray(value)) {
      for (let i = 0; i < value.length && i <= MOST; i++) add(inner(value[i]));
      return '[' + join(items, ', ') + ']';
    }
    const asMap = tried(() => { forEachOfMap(value, (item, key) => add(inner(key) + ' => ' + inner(item))); return true; }, false);
    if (asMap) return 'Map {' + join(items, ', ') + '}';
    const asSet = tried(() => { forEachOfSet(value, (item) => add(inner(item))); return true; }, false);
    if (asSet) return 'Set {' + join(items, ', ') + '}';
    const date = tried(() => iso(value), null);
    if (date !== null) return date;
    if (tried(() => getPrototypeOf(value) === RegExp.prototype, false)) return tried(() => source(value), '[pattern]');
    const keys = ownKeys(value);
    for (let i = 0; i < keys.length && items.length <= MOST; i++) {
      const field = getOwnPropertyDescriptor(value, keys[i]);
      if (!field || !field.enumerable || typeof keys[i] === 'symbol') continue;
      add(keys[i] + ': ' + ('value' in field ? inner(field.value) : '[getter]'));
    }
    return '{' + join(items, ', ') + '}';
  };
  let written = '';
  const write = (...values) => {
    if (written.length > ROOM) return;
    const parts = [];
    for (let i = 0; i < values.length; i++) parts[i] = show(values[i], 0, []);
    written = slice(written + join(parts, ' ') + '\\n', 0, ROOM + 1);
  };
  const quiet = () => {};
  globalThis.console = { log: write, info: write, warn: write, error: write, debug: write, table: write, dir: write, trace: quiet, assert: quiet, time: quiet, timeEnd: quiet };
  return (value, threw) => {
    if (value !== undefined || threw) {
      const shown = tried(() => show(value, threw ? 0 : 1, []), '[a value that cannot be shown]');
      written = slice(written + shown, 0, ROOM + 1);
    }
    return written;
  };
}`;

const images = new WeakMap<WebAssembly.Module, Image>();
function imageOfTool(module: WebAssembly.Module): Image {
  const image = images.get(module) ?? imageOf(module, CONSOLE, false, []);
  images.set(module, image);
  return image;
}

const nothing = (text: Bytes): Bytes => text;

/** What is told of a program that was stopped. */
const STOPPED: Readonly<Record<Exclude<ProgramRun['outcome'], 'ended' | 'threw' | 'syntax'>, string>> = {
  'out-of-steps': 'The program was stopped: it takes too many steps.',
  'out-of-memory': 'The program was stopped: it takes too much memory.',
  waits: 'The program awaits what never comes.',
  'too-long': 'The program is too long, and was not run.',
};

/** The first bytes of a text that make whole characters. */
function firstBytes(bytes: Bytes): { text: string; cut: boolean } {
  const cut = bytes.length > MOST_WRITTEN;
  // A character that the end cuts in two is decoded as nothing.
  const text = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true }).decode(
    bytes.subarray(0, MOST_WRITTEN),
    {
      stream: cut,
    },
  );
  return { text, cut };
}

export function runProgram(
  module: WebAssembly.Module,
  program: string,
  { steps = TOOL_STEPS }: { readonly steps?: number } = {},
): ProgramRun {
  if (program.length > LONGEST_PROGRAM)
    return { text: STOPPED['too-long'], outcome: 'too-long', cut: false, steps: 0 };
  const engine = new Engine(imageOfTool(module), steps, nothing);
  const told = (outcome: ProgramRun['outcome'], bytes: Bytes): ProgramRun => {
    const { text, cut } = firstBytes(bytes);
    const more = outcome in STOPPED ? STOPPED[outcome as keyof typeof STOPPED] : '';
    const left = cut ? `… what follows after ${MOST_WRITTEN} bytes is left out` : '';
    const whole = [text.replace(/\n$/, ''), left, more].filter(Boolean).join('\n');
    return { text: whole || 'The program wrote nothing.', outcome, cut, steps: steps - engine.steps };
  };
  try {
    const { state, shown } = engine.run(program);
    return told(state, shown);
  } catch (error) {
    if (!(error instanceof LimitReached)) throw error;
    return told(error.limit, bytesOf(''));
  } finally {
    engine.close();
  }
}
