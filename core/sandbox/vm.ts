/**
 * QuickJS as one instance of WebAssembly with a memory of its own. Every loop of the engine takes steps from a budget (`kernels/compile-quickjs.ts`), so that whatever a
 * program does ends, after the same work on every machine. The engine has no clock, no chance and no way out: time stands still and its only import that does
 * anything is `send`.
 */

/** The engine's exports that are used. Values are pointers to boxed values in its memory. */
interface Exports {
  readonly memory: WebAssembly.Memory;
  readonly __stack_pointer: { value: number };
  /** What is left of the budget, in steps. */
  readonly fuel: { value: number };
  /** What calls may still take of the host's stack, in bytes. */
  readonly room: { value: number };
  _initialize(): void;
  qjs_init(): number;
  qjs_set_memory_limit(bytes: number): void;
  qjs_set_max_stack_size(bytes: number): void;
  qjs_eval(code: number, bytes: number, file: number, flags: number): number;
  qjs_call(f: number, self: number, count: number, given: number): number;
  qjs_new_host_function(name: number, bytes: number, length: number): number;
  qjs_new_string(text: number, bytes: number): number;
  qjs_get_string_len(value: number, bytes: number): number;
  qjs_free_cstring(text: number): void;
  qjs_free_value(value: number): void;
  qjs_get_undefined(): number;
  qjs_get_true(): number;
  qjs_get_false(): number;
  qjs_is_exception(value: number): number;
  qjs_is_bool(value: number): number;
  qjs_get_bool(value: number): number;
  qjs_get_exception(): number;
  qjs_throw(value: number): number;
  qjs_get_prop_string(object: number, name: number): number;
  qjs_promise_state(promise: number): number;
  qjs_promise_result(promise: number): number;
  qjs_is_job_pending(): number;
  qjs_execute_pending_job(): number;
  wasm_malloc(bytes: number): number;
  wasm_free(at: number): void;
}

/** Bytes that a program's values may take. */
const MEMORY_BYTES = 16 << 20;
/** Bytes of the engine's own stack. What the host's stack needs for it in code that is not optimised yet is well below what any host has. */
const STACK_BYTES = 256 << 10;
/** Memory that is there from the start, so that most programs take no more and the instance can be used again. */
const HEAP_BYTES = 2 << 20;
const ROOM_BYTES = 704 << 10;
const UNLIMITED = 0x7fffffff;
/** Every program sees this time, in nanoseconds since 1970: the first moment of the year 2000. */
const NOW = 946_684_800_000_000_000n;
/** Evaluates as a script in which `await` may stand; the value is a promise of `{value}`. */
const ASYNC = 1 << 7;
const COMPILE_ONLY = 1 << 5;

/** Why a program was given up, whatever it would have said. */
export type Limit = 'out-of-steps' | 'out-of-memory';

/** Ends everything that runs in an engine; no program can catch it. */
export class LimitReached extends Error {
  readonly limit: Limit;
  constructor(limit: Limit) {
    super(`limit: ${limit}`);
    this.limit = limit;
  }
}

/** Texts are moved as bytes, so that they need not be decoded between two engines. */
export type Bytes = Uint8Array<ArrayBuffer>;
const utf8 = new TextEncoder();
export const bytesOf = (text: string): Bytes => utf8.encode(text) as Bytes;

/** The memory of an engine in which a program was evaluated, before anything else ran. */
export interface Image {
  readonly module: WebAssembly.Module;
  readonly memory: Uint8Array;
  readonly stackPointer: number;
  /** The function `receive` of the program. */
  readonly receive: number;
}

/** What an instance's imports call: the engine that uses it at the moment. */
interface Slot {
  send: (text: Bytes) => Bytes;
}

const refused = (): number => 52;

function instantiate(module: WebAssembly.Module): { exports: Exports; slot: Slot } {
  const slot: Slot = { send: (text) => text };
  const { exports } = new WebAssembly.Instance(module, {
    env: {
      host_call: (_name: number, _bytes: number, _self: number, _count: number, given: number) => {
        const engine = exports as unknown as Exports;
        const at = new DataView(engine.memory.buffer).getUint32(given, true);
        return newString(engine, slot.send(readString(engine, at)));
      },
      host_interrupt: () => 0,
      host_promise_rejection: () => {},
      host_module_normalize: () => 0,
      host_module_load: () => 0,
      host_get_timezone_offset: () => 0,
    },
    wasi_snapshot_preview1: {
      clock_time_get: (_clock: number, _precision: bigint, at: number) => {
        new DataView((exports as unknown as Exports).memory.buffer).setBigUint64(at, NOW, true);
        return 0;
      },
      fd_close: refused,
      fd_fdstat_get: refused,
      fd_seek: refused,
      fd_write: refused,
      random_get: refused,
    },
  });
  return { exports: exports as unknown as Exports, slot };
}

/** Writes bytes with a 0 after them into the engine's memory. */
function write(engine: Exports, bytes: Bytes): number {
  const at = engine.wasm_malloc(bytes.length + 1);
  if (at === 0) throw new LimitReached('out-of-memory');
  const memory = new Uint8Array(engine.memory.buffer);
  memory.set(bytes, at);
  memory[at + bytes.length] = 0;
  return at;
}

function newString(engine: Exports, bytes: Bytes): number {
  const at = write(engine, bytes);
  const value = engine.qjs_new_string(at, bytes.length);
  engine.wasm_free(at);
  if (engine.qjs_is_exception(value)) throw new LimitReached('out-of-memory');
  return value;
}

function readString(engine: Exports, value: number): Bytes {
  const length = engine.wasm_malloc(4);
  const at = length && engine.qjs_get_string_len(value, length);
  if (!at) throw new LimitReached('out-of-memory');
  const bytes = new Uint8Array(
    engine.memory.buffer,
    at,
    new DataView(engine.memory.buffer).getUint32(length, true),
  ).slice();
  engine.qjs_free_cstring(at);
  engine.wasm_free(length);
  return bytes;
}

function evaluate(engine: Exports, code: string, flags = 0): number {
  const bytes = bytesOf(code);
  const [at, file] = [write(engine, bytes), write(engine, bytesOf('program'))];
  const value = engine.qjs_eval(at, bytes.length, file, flags);
  engine.wasm_free(at);
  engine.wasm_free(file);
  return value;
}

const STATES = ['waits', 'kept', 'threw'] as const;
/** undefined where the value is no promise. */
const promiseState = (engine: Exports, value: number): (typeof STATES)[number] | undefined =>
  STATES[engine.qjs_promise_state(value)];

function call(engine: Exports, f: number, given: readonly number[]): number {
  const at = write(engine, new Uint8Array(4 * given.length + 4));
  const view = new DataView(engine.memory.buffer);
  given.forEach((value, i) => {
    view.setUint32(at + 4 * i, value, true);
  });
  const value = engine.qjs_call(f, engine.qjs_get_undefined(), given.length, at);
  engine.wasm_free(at);
  return value;
}

/**
 * An engine in which `texts` were evaluated, and then `program`, a function `(send, isTests) => receive`, was called. Throws where one of them throws, which is a
 * mistake of this project.
 */
export function imageOf(
  module: WebAssembly.Module,
  program: string,
  isTests: boolean,
  texts: readonly string[],
): Image {
  const { exports: engine } = instantiate(module);
  engine.fuel.value = UNLIMITED;
  engine.room.value = UNLIMITED;
  engine._initialize();
  if (engine.qjs_init() !== 0) throw new Error('internal: QuickJS does not start.');
  engine.qjs_set_memory_limit(MEMORY_BYTES);
  engine.qjs_set_max_stack_size(STACK_BYTES);
  const kept = (value: number): number => {
    if (!engine.qjs_is_exception(value)) return value;
    const message = new TextDecoder().decode(readString(engine, engine.qjs_get_exception()));
    throw new Error(`internal: what is evaluated before a program throws ${message}.`);
  };
  const name = bytesOf('send');
  const send = engine.qjs_new_host_function(write(engine, name), name.length, 1);
  const make = kept(evaluate(engine, `(${program})`));
  const receive = kept(call(engine, make, [send, isTests ? engine.qjs_get_true() : engine.qjs_get_false()]));
  for (const text of texts) kept(evaluate(engine, text));
  engine.wasm_free(engine.wasm_malloc(HEAP_BYTES));
  return {
    module,
    memory: new Uint8Array(engine.memory.buffer).slice(),
    stackPointer: engine.__stack_pointer.value,
    receive,
  };
}

/** Instances that are not in use, by their module. One whose memory has grown is not kept, so that every program finds the same memory. */
const idle = new WeakMap<WebAssembly.Module, ReturnType<typeof instantiate>[]>();

export class Engine {
  readonly #image: Image;
  readonly #instance: ReturnType<typeof instantiate>;

  /** `steps`: the budget; `send`: answers what the program in the engine asks. */
  constructor(image: Image, steps: number, send: (text: Bytes) => Bytes) {
    this.#image = image;
    this.#instance = idle.get(image.module)?.pop() ?? instantiate(image.module);
    this.#instance.slot.send = send;
    const { memory, __stack_pointer, fuel, room } = this.#exports;
    const missing = image.memory.length - memory.buffer.byteLength;
    if (missing > 0) memory.grow(missing >> 16);
    new Uint8Array(memory.buffer).set(image.memory);
    __stack_pointer.value = image.stackPointer;
    fuel.value = steps;
    room.value = ROOM_BYTES;
  }

  get #exports(): Exports {
    return this.#instance.exports;
  }

  /** Steps that are left. */
  get steps(): number {
    return this.#exports.fuel.value;
  }

  /** Throws `LimitReached` where the engine trapped: it has no steps left, or the host's stack ended. */
  #guarded<T>(run: () => T): T {
    try {
      return run();
    } catch (error) {
      if (error instanceof LimitReached) throw error;
      throw new LimitReached(this.steps === 0 ? 'out-of-steps' : 'out-of-memory');
    }
  }

  /** Evaluates a program. null, or the name of the error that it threw, `SyntaxError` where it does not parse. */
  evaluate(code: string): string | null {
    return this.#guarded(() => {
      const engine = this.#exports;
      const value = evaluate(engine, code);
      if (!engine.qjs_is_exception(value)) return null;
      return this.#thrown();
    });
  }

  #thrown(): string {
    const engine = this.#exports;
    const name = engine.qjs_get_prop_string(engine.qjs_get_exception(), write(engine, bytesOf('name')));
    return engine.qjs_is_exception(name) ? 'Error' : new TextDecoder().decode(readString(engine, name));
  }

  /** Does a program in which `await` may stand parse? Nothing of it is run. */
  parses(code: string): boolean {
    return this.#guarded(
      () => this.#exports.qjs_is_exception(evaluate(this.#exports, code, ASYNC | COMPILE_ONLY)) === 0,
    );
  }

  /** Begins to evaluate a program in which `await` may stand. */
  begin(code: string): number | null {
    return this.#guarded(() => {
      const value = evaluate(this.#exports, code, ASYNC);
      return this.#exports.qjs_is_exception(value) ? null : value;
    });
  }

  /** What has become of it: it waits, it threw, or it came to an end, with or without the value `false`. A promise as its value is waited for, too. */
  stateOf(begun: number): 'waits' | 'threw' | 'false' | 'ended' {
    return this.#guarded(() => {
      const engine = this.#exports;
      const first = promiseState(engine, begun);
      if (first !== 'kept') return first ?? 'ended';
      let value = engine.qjs_get_prop_string(
        engine.qjs_promise_result(begun),
        write(engine, bytesOf('value')),
      );
      const state = promiseState(engine, value);
      if (state === 'waits' || state === 'threw') return state;
      if (state === 'kept') value = engine.qjs_promise_result(value);
      return engine.qjs_is_bool(value) && !engine.qjs_get_bool(value) ? 'false' : 'ended';
    });
  }

  /**
   * Runs a program in which `await` may stand, to its end. `shown`: what the image's `receive` answers, given the value of the program's last expression, or what
   * was thrown and `true`, or nothing where it waits.
   */
  run(code: string): { readonly state: 'ended' | 'threw' | 'syntax' | 'waits'; readonly shown: Bytes } {
    return this.#guarded(() => {
      const engine = this.#exports;
      const shown = (...given: readonly number[]): Bytes => {
        const value = call(engine, this.#image.receive, given);
        if (engine.qjs_is_exception(value)) throw new LimitReached('out-of-memory');
        return readString(engine, value);
      };
      const begun = evaluate(engine, code, ASYNC);
      if (engine.qjs_is_exception(begun))
        return { state: 'syntax', shown: shown(engine.qjs_get_exception(), engine.qjs_get_true()) };
      while (this.runJobs() > 0);
      const result = () => engine.qjs_promise_result(begun);
      switch (promiseState(engine, begun)) {
        case 'threw':
          return { state: 'threw', shown: shown(result(), engine.qjs_get_true()) };
        case 'kept':
          return {
            state: 'ended',
            shown: shown(engine.qjs_get_prop_string(result(), write(engine, bytesOf('value')))),
          };
      }
      return { state: 'waits', shown: shown() };
    });
  }

  /** Runs what waits in the queue of promises. @returns how much ran */
  runJobs(): number {
    return this.#guarded(() => {
      let count = 0;
      for (; this.#exports.qjs_is_job_pending(); count++) this.#exports.qjs_execute_pending_job();
      return count;
    });
  }

  /** Calls `receive` for another engine, whose calls and this one's take the same stack of the host. */
  receiveFrom(other: Engine, text: Bytes): Bytes {
    const [mine, theirs] = [this.#exports.room, other.#exports.room];
    const before = mine.value;
    mine.value = Math.min(before, theirs.value);
    const answer = this.receive(text);
    mine.value = before;
    return answer;
  }

  /** Calls the program's `receive`. Throws `LimitReached` where it threw: it catches what can be caught. */
  receive(text: Bytes, isHost = false): Bytes {
    return this.#guarded(() => {
      const engine = this.#exports;
      const given = newString(engine, text);
      const value = call(engine, this.#image.receive, isHost ? [given, engine.qjs_get_true()] : [given]);
      if (engine.qjs_is_exception(value)) throw new LimitReached('out-of-memory');
      const answer = readString(engine, value);
      engine.qjs_free_value(value);
      engine.qjs_free_value(given);
      return answer;
    });
  }

  /** Gives the instance back. The engine must not be used after that. */
  close(): void {
    if (this.#exports.memory.buffer.byteLength !== this.#image.memory.length) return;
    const { module } = this.#image;
    idle.set(module, [...(idle.get(module) ?? []), this.#instance].slice(-2));
  }
}
