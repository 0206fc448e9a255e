/** What the mesh assumes of Workers and of rate limits. */
import {
  bytesOf,
  type Check,
  check,
  countOf,
  Differs,
  hexOf,
  insert,
  pause,
  same,
  sha256,
  thrown,
} from './check.ts';

const SIGNATURE_KEY = { name: 'HMAC', hash: 'SHA-256' };
export const WORKERS: readonly Check[] = [
  check(
    'workers.no-eval',
    'text is never run as a program',
    'docs/security.md',
    'a guard less against programs of models',
    async () => {
      const made: string = 'return 1';
      await thrown(() => new Function(made)());
    },
  ),
  check(
    'workers.no-compile',
    'wasm is not compiled at run time',
    'infer/workerd-engines.ts',
    'nothing: the mesh would still bring compiled modules',
    async () => {
      const Module = WebAssembly.Module as unknown as new (bytes: Uint8Array) => unknown;
      await thrown(() => new Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])));
    },
  ),
  check(
    'workers.shared-memory',
    'a shared memory of wasm can be made',
    'infer/ort-workerd.ts',
    'ONNX Runtime would not open: the engine kernels is left',
    async () => {
      const memory = new WebAssembly.Memory({ initial: 1, maximum: 2, shared: true } as never);
      same(memory.buffer.constructor.name, 'SharedArrayBuffer');
    },
  ),
  check(
    'workers.memory',
    'a memory of wasm grows to 64 MiB',
    'infer/workerd-engines.ts',
    'policies of the shipped sizes would not open',
    async () => {
      const memory = new WebAssembly.Memory({ initial: 1, maximum: 1024 });
      memory.grow(1023);
      same(memory.buffer.byteLength, 64 * 1024 * 1024);
    },
  ),
  check(
    'workers.hmac',
    'an HMAC is verified by the platform',
    'workers/gateway/signature.ts',
    'no webhook would be taken',
    async () => {
      const key = await crypto.subtle.importKey('raw', bytesOf('key'), SIGNATURE_KEY, false, [
        'sign',
        'verify',
      ]);
      const seal = await crypto.subtle.sign(
        'HMAC',
        key,
        bytesOf('The quick brown fox jumps over the lazy dog'),
      );
      same(hexOf(seal), 'f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8');
    },
  ),
  check(
    'workers.ed25519',
    'a signature of Ed25519 is made and verified by the platform',
    'core/audit/work-seal.ts',
    'nodes could not seal',
    async () => {
      const pair = (await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify'])) as CryptoKeyPair;
      const seal = await crypto.subtle.sign('Ed25519', pair.privateKey, bytesOf('text'));
      same(
        [
          await crypto.subtle.verify('Ed25519', pair.publicKey, seal, bytesOf('text')),
          await crypto.subtle.verify('Ed25519', pair.publicKey, seal, bytesOf('texu')),
        ],
        [true, false],
      );
    },
  ),
  check(
    'workers.utf8',
    'bytes that are no UTF-8 are refused where it is asked',
    'workers/gateway/body.ts',
    'damaged bodies would be read',
    async () => {
      await thrown(() =>
        new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(new Uint8Array([0xff])),
      );
    },
  ),
  check(
    'workers.wait-until',
    'work goes on after the answer',
    'workers/rollout/worker.ts',
    'work after an answer would be lost until the clock sends it again',
    async (env, mark, later) => {
      later(pause(50).then(() => insert(env, mark, 0).run()));
      for (let waited = 0; (await countOf(env, mark)) === 0; waited += 100) {
        if (waited > 10_000) throw new Differs('it was not done');
        await pause(100);
      }
    },
  ),
  check(
    'workers.stream',
    'a body is streamed while it is made',
    'workers/rollout/serving/stream-writer.ts',
    'chats would come at their end',
    async () => {
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
      const writer = writable.getWriter();
      const reader = readable.getReader();
      void writer.write(bytesOf('first'));
      same(new TextDecoder().decode((await reader.read()).value), 'first');
      await Promise.all([writer.close(), reader.read()]);
    },
  ),
  check(
    'workers.sha256',
    'a digest of SHA-256 is that of FIPS 180-4',
    'core/random.ts',
    'no object would be found by its hash',
    async () => {
      same(await sha256(bytesOf('abc')), 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
    },
  ),
  check(
    'workers.numbers',
    'square roots and float32 are rounded correctly',
    'core/same-exp.ts',
    'a mesh and one process would come to other bits',
    async () => {
      // Worked out with 60 decimal digits, and rounded to the nearest float.
      same(
        [Math.sqrt(2), Math.sqrt(0.1), Math.fround(0.1), Math.fround(16_777_217), Math.fround(1e-46)],
        [1.4142135623730951, 0.31622776601683794, 0.10000000149011612, 16_777_216, 0],
      );
    },
  ),
  check(
    'workers.clock',
    'after an event the clock has gone on',
    'workers/shared/meter.ts',
    'no CPU time would be counted',
    async () => {
      const began = Date.now();
      await pause(50);
      const passed = Date.now() - began;
      if (passed < 40) throw new Differs(`${passed} ms after a pause of 50`);
    },
  ),
  check(
    'workers.timeout',
    'a signal with a time limit aborts',
    'workers/gateway/callback.ts',
    'a receiver that is silent would hold a round',
    async () => {
      const signal = AbortSignal.timeout(50);
      await pause(200);
      same([signal.aborted, (signal.reason as Error).name], [true, 'TimeoutError']);
    },
  ),
  check(
    'workers.fixed-length',
    'a stream of a fixed length takes no byte more',
    'workers/gateway/file-body.ts',
    'a file could come with another length than was said',
    async () => {
      const { readable, writable } = new FixedLengthStream(3);
      const read = new Response(readable).arrayBuffer().catch(() => undefined);
      const writer = writable.getWriter();
      await thrown(async () => {
        await writer.write(bytesOf('four'));
        await writer.close();
      });
      await read;
    },
  ),
  check(
    'rate-limit',
    'a limit of 5 a minute ends at about 5, and counts each key apart',
    'workers/gateway/guards.ts',
    'guessing would not be slowed',
    async (env, mark) => {
      const tried = async (key: string, times: number) => {
        let passed = 0;
        for (let i = 0; i < times; i++) if ((await env.LIMIT.limit({ key })).success) passed++;
        return passed;
      };
      const passed = await tried(`${mark}/a`, 40);
      if (passed === 40 || passed < 5) throw new Differs(`${passed} of 40 passed`);
      same(await tried(`${mark}/b`, 1), 1);
    },
  ),
];
