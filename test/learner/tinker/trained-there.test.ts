/**
 * Rounds that a server of the Tinker API trains, ours: the same plan trained here and there comes to the same adapter, a fault at any request trains nothing
 * twice, and what goes wrong has a name.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import type {
  LearnTools,
  PolicyPart,
  SetSettings,
  Update,
  UpdatePart,
} from '../../../core/plan/training-plan.ts';
import type { VersionFiles } from '../../../core/schema/policy.ts';
import type { ScoredGroup } from '../../../core/schema/sample.ts';
import { openDevice } from '../../../learner/device/node-host.ts';
import { createLora } from '../../../learner/nn/lora.ts';
import { paramsFrom } from '../../../learner/nn/params.ts';
import { readTensors } from '../../../learner/nn/trainable.ts';
import { TinkerClient } from '../../../learner/tinker/client.ts';
import { decodeOutput, encodeOutput } from '../../../learner/tinker/messages.ts';
import { TinkerTrainer } from '../../../learner/tinker/tinker-trainer.ts';
import { readRemoteOptimizer } from '../../../learner/train/optimizer-file.ts';
import { RoundTrainer } from '../../../learner/train/round-trainer.ts';
import { writeAdapter } from '../../../model/adapter.ts';
import { parseConfig } from '../../../model/config.ts';
import { relativeDifference } from '../engine-tiny.ts';
import { sampleOf, scoresOf, sequences, teach, tensorsOf, trained, version } from '../plan-fixture.ts';
import { openServer, URL_OF_SERVER } from './server.ts';

const [RANK, ALPHA] = [2, 32];
const start = version('start');
const sets: Readonly<Record<string, SetSettings>> = {
  main: {
    optimizer: { ...trained.optimizer!, learningRate: 1e-2, weightDecay: 0.1, minibatches: 2 },
    adapter: { rank: RANK, alpha: ALPHA },
  },
};
const given = sequences(4, 7, 3, 5);
/** As few attempts as there can be with a second one. */
const backOff = { attempts: 2, firstMs: 1, longestMs: 1 };

let now: readonly (readonly number[])[];
beforeAll(async () => {
  await openDevice({ device: 'cpu', threads: 1 });
  now = scoresOf(start, given).logprobs;
});

const about = { role: 'solver', weight: 1 } as const;
const items = () =>
  given.map((sequence, s) => ({
    sample: sampleOf(
      sequence,
      now[s]!.map((p, t) => p + 0.3 * Math.sin(s + 2 * t)),
    ),
    advantage: s % 2 ? -0.5 - s : 2,
  }));
const policy = (objective: PolicyPart['objective'], change: Partial<PolicyPart> = {}): PolicyPart => ({
  ...about,
  kind: 'policy',
  items: items(),
  objective,
  aggregation: { mode: 'token-mean' },
  ...change,
});
const bounds = { clipLow: 0.2, clipHigh: 0.25 };
const ppo = () => policy({ kind: 'ppo-clip', ...bounds });
const plan = (...parts: UpdatePart[]) => ({ updates: [{ set: 'main', parts, epochs: 2 }] });

const trainerOn = (
  send: typeof fetch,
  { baseModel, ...settings }: { baseModel?: string; apiKey?: string; patienceMs?: number } = {},
) =>
  new TinkerTrainer({
    client: new TinkerClient({ url: URL_OF_SERVER, fetch: send, backOff, ...settings }),
    baseModel,
  });
const adapterIn = (files: VersionFiles) => tensorsOf(files, 'main.adapter.safetensors');
const withCode = (code: string, kind?: string) =>
  expect.objectContaining({ code, ...(kind ? { kind } : {}) });

describe('the same plan here and there', () => {
  /** The start policy with the adapter that a server draws for a seed. */
  async function seeded(seed: number): Promise<VersionFiles> {
    const params = paramsFrom(
      parseConfig(JSON.parse(new TextDecoder().decode(start['config.json']))),
      tensorsOf(start),
    );
    const lora = createLora(params, { rank: RANK, alpha: ALPHA }, `adapter/${seed}`);
    return {
      ...start,
      'main.adapter.safetensors': writeAdapter({ alpha: ALPHA, tensors: await readTensors(lora) }),
    };
  }

  const reference = { set: 'main', version: 0 };
  const pairs = [
    { chosen: given[0]!, rejected: given[1]! },
    { chosen: given[2]!, rejected: given[3]! },
  ];
  const cases: [name: string, part: () => UpdatePart[]][] = [
    ['ppo', () => [ppo()]],
    ['cispo', () => [policy({ kind: 'cispo', clipLow: 1, clipHigh: 0.1 })]],
    [
      'reinforce beside sft',
      () => [policy({ kind: 'reinforce' }), { ...about, kind: 'sft', weight: 0.5, items: given.slice(1) }],
    ],
    [
      'dual clip and KL, by derivatives',
      () => [
        policy(
          { kind: 'ppo-clip', ...bounds, dualClip: 3 },
          { kl: { weight: 0.3, estimator: 'k3', reference } },
        ),
      ],
    ],
    [
      'dpo, by derivatives',
      () => [{ ...about, kind: 'preference', pairs, reference, objective: { kind: 'dpo', beta: 0.5 } }],
    ],
  ];
  test.each(cases)(
    '%s: adapters agree to 1e-4 of their largest number, and so do the figures',
    async (_, parts) => {
      const server = openServer({ base: start });
      let seed = 0;
      const there = await teach(plan(...parts()), {
        sets,
        versions: [start],
        trainer: trainerOn(async (url, init) => {
          const body = typeof init?.body === 'string' ? JSON.parse(init.body) : {};
          seed = body.lora_config?.seed ?? seed;
          return server.fetch(url, init);
        }),
      });
      const here = await teach(plan(...parts()), {
        sets,
        versions: [await seeded(seed)],
        trainer: new RoundTrainer(),
      });
      const [own, other] = [adapterIn(here.files), adapterIn(there.files)];
      expect([...other.keys()]).toEqual([...own.keys()]);
      for (const [name, { data }] of own)
        expect(relativeDifference(data, other.get(name)!.data), name).toBeLessThan(1e-4);
      const { loss, gradientNorm, clipFraction, updates, tokens } = here.report;
      expect(there.report).toMatchObject({
        updates,
        tokens,
        loss: expect.closeTo(loss, 5),
        clipFraction: expect.closeTo(clipFraction, 6),
      });
      expect(there.report.gradientNorm! / gradientNorm!).toBeCloseTo(1, 4);
      expect(Object.keys(there.figures)).toEqual(Object.keys(here.figures));
      await server.dispose();
    },
  );

  test('a reference is scored under its own version', async () => {
    const { fetch: send, dispose } = openServer({ base: start });
    const trainer = trainerOn(send);
    const { 'optimizer.safetensors': _, ...first } = (
      await teach(plan(ppo()), { sets, versions: [start], trainer })
    ).files;
    const objective = { kind: 'dpo', beta: 0.5 } as const;
    const step: UpdatePart = { ...about, kind: 'preference', pairs, reference, objective };
    const work = { updates: [{ set: 'main', parts: [step], minibatches: 1 }] };
    const here = await teach(work, { sets, versions: [start, first] });
    const there = await teach(work, { sets, versions: [start, first], trainer });
    expect(there.report.loss).toBeCloseTo(here.report.loss, 5);
    // Under the version itself the margin would be 0.
    expect(Math.abs(here.report.loss - Math.LN2)).toBeGreaterThan(0.01);
    trainer.dispose();
    await dispose();
  });
});

describe('faults', () => {
  type Fault = (send: () => Promise<Response>) => Promise<Response>;
  /** A connection to the server on which request `at` (from 0) has a fault; and how many requests there were. */
  function faulty(send: typeof fetch, at: number, fault: Fault, forGood = false) {
    const state = { requests: 0 };
    const connection: typeof fetch = (url, init) => {
      const own = state.requests++;
      const through = () => send(url, init);
      return own === at || (forGood && own > at) ? fault(through) : through();
    };
    return { state, connection };
  }
  const network = () => Promise.reject(new TypeError('fetch failed'));
  const answerLost: Fault = async (send) => {
    await send();
    return network();
  };

  /** One step, from the start policy or from a version that the server has trained. */
  const round = async (trainer: TinkerTrainer, ...before: VersionFiles[]): Promise<VersionFiles> => {
    const work = { updates: [{ set: 'main', parts: [ppo()], minibatches: 1 }] };
    const { files } = await teach(work, { sets, versions: [start, ...before], trainer });
    return files;
  };
  const again = async (trainer: TinkerTrainer, ...before: VersionFiles[]) => {
    try {
      return await round(trainer, ...before);
    } finally {
      trainer.dispose();
    }
  };

  test('at each request of a round an answer is lost, the server is busy, or the learner is killed: the version is the same', async () => {
    const { fetch: send, dispose } = openServer({ base: start });
    const trainer = trainerOn(send);
    const first = await round(trainer);
    const expected = await again(trainer, first);
    const same = (files: VersionFiles, at: string) => {
      expect(files['main.adapter.safetensors'], at).toEqual(expected['main.adapter.safetensors']);
      expect(readRemoteOptimizer(files['optimizer.safetensors']!)!.steps, at).toBe(2);
    };
    // A learner that begins with the second round loads the checkpoint of the first.
    const whole = faulty(send, -1, network);
    same(await again(trainerOn(whole.connection), first), 'without a fault');
    const busy: Fault = async () => Response.json({ detail: 'wait' }, { status: 429 });
    const requests = whole.state.requests - 1; // The last one gives the model up.
    expect(requests).toBeGreaterThan(15);
    for (let at = 0; at < requests; at++) {
      // Nothing that a killed learner sends arrives; its last request may have.
      const { connection } = faulty(send, at, at % 2 ? answerLost : network, true);
      await expect(again(trainerOn(connection), first), `killed at ${at}`).rejects.toThrow();
      const other = faulty(send, at, at % 4 < 2 ? answerLost : busy);
      same(await again(trainerOn(other.connection), first), `request ${at}`);
    }
    await dispose();
  });

  test('a server that was started again has lost the model, not the checkpoint', async () => {
    const before = openServer({ base: start });
    let { fetch: send } = before;
    const trainer = trainerOn((...asked) => send(...asked));
    const first = await round(trainer);
    const expected = await again(trainerOn(send), first);
    await before.dispose(true);
    const after = openServer({ base: start }, { state: before.state });
    send = after.fetch;
    await expect(round(trainer, first)).rejects.toEqual(withCode('tinker.lost', 'retry'));
    expect((await round(trainer, first))['main.adapter.safetensors']).toEqual(
      expected['main.adapter.safetensors'],
    );
    const elsewhere = openServer({ base: start });
    send = elsewhere.fetch;
    trainer.forget();
    await expect(again(trainer, first)).rejects.toEqual(withCode('tinker.checkpoint', 'retry'));
    await Promise.all([after.dispose(), elsewhere.dispose()]);
  });
});

describe('what goes wrong has a name', () => {
  const on = async (
    change: (url: string, answer: Response) => Response | Promise<Response>,
    work: {
      parts?: UpdatePart[];
      update?: Partial<Update>;
      sets?: typeof sets;
      settings?: Parameters<typeof trainerOn>[1];
      bases?: Parameters<typeof openServer>[0];
    } = {},
  ) => {
    const asked: string[] = [];
    const { fetch: send, dispose } = openServer(work.bases ?? { base: start }, { apiKey: 'tml-right' });
    const trainer = trainerOn(
      async (url, init) => {
        asked.push(String(url));
        return change(String(url), await send(url, init));
      },
      { apiKey: 'tml-right', ...work.settings },
    );
    const [update] = plan(...(work.parts ?? [ppo()])).updates;
    const error = await teach(
      { updates: [{ ...update!, ...work.update }] },
      {
        sets: work.sets ?? sets,
        versions: [start],
        trainer,
      },
    ).catch((caught) => caught);
    await dispose();
    return { error, asked };
  };
  const asIs = (_: string, answer: Response) => answer;
  const to = (route: string, answer: () => Response) => (url: string, own: Response) =>
    url.endsWith(route) ? answer() : own;

  test('a wrong key, a model that is not there, one of several that was not chosen', async () => {
    expect((await on(asIs, { settings: { apiKey: 'tml-wrong' } })).error).toEqual(withCode('tinker.key'));
    expect((await on(asIs, { settings: { baseModel: 'other' } })).error).toEqual(withCode('tinker.base'));
    expect((await on(asIs, { bases: { base: start, other: start } })).error).toEqual(withCode('tinker.base'));
  });

  test('a server that stays busy or broken, and a result that it has lost', async () => {
    const status = (code: number) => () => Response.json({ detail: 'no' }, { status: code });
    expect((await on(to('/optim_step', status(429)))).error).toEqual(withCode('tinker.unreachable', 'retry'));
    expect((await on(to('/optim_step', status(502)))).error).toEqual(withCode('tinker.unreachable', 'retry'));
    expect((await on(to('/retrieve_future', status(410)))).error).toEqual(withCode('tinker.lost', 'retry'));
    expect((await on(to('/save_weights', status(422)))).error).toEqual(withCode('tinker.refused', 'give-up'));
  });

  test('a result that never comes', async () => {
    const never = to('/retrieve_future', () => Response.json({ type: 'try_again', queue_state: 'active' }));
    const { error } = await on(never, { settings: { patienceMs: 300 } });
    expect(error).toEqual(withCode('tinker.late', 'retry'));
  });

  test('a base that is another model, which the round’s samples tell, before anything is trained', async () => {
    const policy = { name: 'p', version: 0 };
    const samples = given.map((sequence, s) => ({ ...sampleOf(sequence, now[s]!), policy }));
    const group = { samples, judgments: [] } as unknown as ScoredGroup;
    const { fetch: send, dispose } = openServer({ base: version('another') });
    const asked: string[] = [];
    const trainer = trainerOn(async (url, init) => {
      asked.push(String(url).replace(/^.*\//, ''));
      return send(url, init);
    });
    const train: TinkerTrainer['train'] = (work) => trainer.train({ ...work, groups: [group] });
    await expect(teach(plan(ppo()), { sets, versions: [start], trainer: { train } })).rejects.toEqual(
      withCode('tinker.model'),
    );
    expect(asked.filter((route) => route === 'forward_backward')).toHaveLength(1);
    expect(asked).not.toContain('optim_step');
    await dispose();
  });

  test('a loss that the server means differently takes no step', async () => {
    const halved = async (_: string, answer: Response) => {
      if (!answer.headers.get('content-type')?.includes('protobuf')) return answer;
      const { logprobs, metrics } = decodeOutput(new Uint8Array(await answer.arrayBuffer()));
      const message = encodeOutput({ logprobs, metrics: { 'loss:sum': metrics['loss:sum']! / 2 } });
      return new Response(new Uint8Array(message), answer);
    };
    const { error, asked } = await on(halved);
    expect(error).toEqual(withCode('tinker.loss', 'give-up'));
    expect(asked.some((url) => url.endsWith('/optim_step'))).toBe(false);
  });

  test('what cannot be said is refused before a model is made', async () => {
    const refused = async (work: Parameters<typeof on>[1], why: RegExp) => {
      const { error, asked } = await on(asIs, work);
      expect(error).toEqual(withCode('tinker.unmapped'));
      expect(error.message).toMatch(why);
      expect(asked).toEqual([]);
    };
    const { main } = sets;
    await refused({ parts: [policy({ kind: 'reinforce' }, { entropy: 0.01 })] }, /entropy/);
    await refused({ parts: [policy({ kind: 'reinforce' }, { temperature: 0.7 })] }, /temperature 0.7/);
    await refused(
      {
        parts: [
          {
            ...about,
            kind: 'distillation',
            items: given,
            teacher: { set: 'main', version: 0 },
            divergence: { kind: 'forward-kl' },
          },
        ],
      },
      /distributions/,
    );
    await refused({ sets: { main: { optimizer: main!.optimizer } } }, /all weights/);
    await refused({ update: { only: { layers: [0], learningRate: 1e-3 } } }, /some layers alone/);
    await refused({ sets: { main: { ...main!, head: { kind: 'value' } } } }, /head of kind value/);
    await refused({ sets: { main: main!, judge: main! } }, /main and judge/);
  });

  test('hidden states, products of gradients and trials are not told, and no model is made for them', async () => {
    const { fetch: send, dispose } = openServer({ base: start });
    const asked: string[] = [];
    const trainer = trainerOn(async (url, init) => {
      asked.push(String(url));
      return send(url, init);
    });
    const learning = (ask: (tools: LearnTools) => Promise<unknown>) =>
      teach(async (_, tools) => ({ updates: [], figures: { asked: Number(await ask(tools)) } }), {
        sets,
        versions: [start],
        trainer,
      });
    for (const [ask, why] of [
      [(tools: LearnTools) => tools.states('main', given), /asks for hidden states before it plans/],
      [(tools: LearnTools) => tools.alignment('main', [ppo()], ppo()), /products of gradients \(alignment\)/],
      [(tools: LearnTools) => tools.trial('main', [], given), /trials of updates \(trial\)/],
    ] as const) {
      const error = await learning(ask).catch((caught) => caught);
      expect(error).toEqual(withCode('tinker.unmapped'));
      expect(error.message).toMatch(why);
    }
    expect(asked).toEqual([]);
    await dispose();
  });
});
