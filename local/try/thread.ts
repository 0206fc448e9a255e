/**
 * The thread of the page /try: a whole run, from proposals to training, in one dedicated worker of the browser. It sends nothing anywhere, and fetches
 * only the files beside it.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { RollmeshError } from '../../core/errors.ts';
import { readTags } from '../../core/recipe/reading.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import { registry } from '../../core/recipe/registry.ts';
import { HELD_OUT } from '../../core/recipe/split.ts';
import { textOf } from '../../core/renderer/policy-text.ts';
import { fileEntries, holdsWeights, type VersionFiles } from '../../core/schema/policy.ts';
import { runIdOf } from '../../core/schema/round.ts';
import type { Proposals, Sample, ScoredGroup } from '../../core/schema/sample.ts';
import { type BrowserEngines, browserEngines } from '../../infer/browser-engines.ts';
import { browserHost } from '../../learner/device/browser-host.ts';
import { openDeviceOn } from '../../learner/device/device.ts';
import { noObjectives } from '../../learner/train/objective-modules.ts';
import { FLAGSHIP } from '../../recipes/flagship.ts';
import { shipped } from '../../recipes/index.ts';
import { type OrderedRun, runOf } from '../../recipes/run-order.ts';
import { playRun } from '../run/play.ts';
import { MemoryRunStore } from '../run/run-store.ts';
import { type Asked, CODE_FILE, type LastWords, type OfferedRecipe, type Told } from './told.ts';

/** What a policy may take of memory for sampling. A browser tells nothing about its memory that can be relied on. */
const KERNEL_BYTES = 512 * 1024 * 1024;
/** Versions that are kept beside version 0. */
const KEPT_VERSIONS = 4;
/** Held-out tasks of each family that a version is evaluated on, every so many rounds. */
const EXAMINED = 120;
const EVALUATE_EVERY = 2;

const NO_SIMD = 'This browser has no WebAssembly SIMD, which computing needs.';
const WITH_SIMD = 'Open the page in Chrome or Edge 91, Firefox 89, Safari 16.4 or newer.';

const tell = (told: Told, transfer: Transferable[] = []): void => postMessage(told, { transfer });

async function fetched(file: string): Promise<Uint8Array<ArrayBuffer>> {
  const response = await fetch(new URL(file, self.location.href)).catch(() => undefined);
  if (!response?.ok)
    throw new Error(
      `The file ${file} of this page cannot be had. Load the page again, or look whether its host is there.`,
    );
  return new Uint8Array(await response.arrayBuffer());
}

/** Lets messages in: a run awaits nothing else that does. Timers are slowed down in the background, messages are not. */
function breathe(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}

/** A store whose every call lets messages in, and waits while the run is paused. */
class TabStore extends MemoryRunStore {
  #paused: Promise<void> | undefined;
  #resume: () => void = () => {};
  proposals: Proposals | undefined;
  group: ScoredGroup | undefined;

  pause(): void {
    this.#paused ??= new Promise((resolve) => {
      this.#resume = resolve;
    });
  }

  resume(): void {
    this.#paused = undefined;
    this.#resume();
  }

  override async putRecord(key: string, value: unknown): Promise<void> {
    await breathe();
    if (this.#paused) {
      tell({ kind: 'paused' });
      await this.#paused;
    }
    if (key.endsWith('/proposals.json')) this.proposals = value as Proposals;
    if (key.endsWith('/scored.json')) this.group = value as ScoredGroup;
    await super.putRecord(key, value);
  }
}

/** A run that was begun, with what it needs to go on. */
interface Begun {
  readonly run: OrderedRun;
  readonly store: TabStore;
}

let begun: Begun | undefined;

const shaOf = (files: VersionFiles): string =>
  bytesToHex(
    sha256(files['model.safetensors'] ?? fileEntries(files).find(([name]) => holdsWeights(name))![1]),
  );

/** The last task's proposal, its first answer and what was made of it: one sample of each role. */
function lastWords(recipe: Recipe, files: VersionFiles, { proposals, group }: TabStore): LastWords[] {
  if (!group) return [];
  const { tokenizer } = textOf(files, recipe.name);
  const cut = recipe.describe?.parts ?? ((_: string, text: string) => readTags(text));
  const [answer] = group.samples;
  const proposal = proposals?.samples.find(({ id }) => id === group.proposal) ?? proposals?.samples.at(-1);
  const judged = group.judgments.filter(({ of }) => of === answer?.id);
  const samples = [proposal, ...group.samples, ...judged, ...group.judgments].filter(
    (one) => one !== undefined,
  );
  const first = new Map<string, Sample>();
  for (const sample of samples) if (!first.has(sample.role)) first.set(sample.role, sample);
  return [...first.values()].map(({ role, prompt, ids, outcome, rewards }) => ({
    role,
    seen: [...cut(role, tokenizer.decode(prompt))],
    said: [...cut(role, tokenizer.decode(ids))],
    outcome,
    reward: rewards.reward,
  }));
}

interface Place {
  readonly starts: Readonly<Record<string, readonly string[]>>;
  readonly engines: BrowserEngines;
  readonly kernels: Parameters<typeof browserHost>[0];
}

/** Fetches and tries what every run needs. */
async function open(): Promise<Place> {
  const [starts, plain, fma] = await Promise.all(
    ['starts.json', 'learner.wasm', 'learner-fma.wasm'].map(fetched),
  );
  const engines = await browserEngines(
    async (build) => (await fetched(`infer-${build}.wasm`)).buffer,
    KERNEL_BYTES,
  );
  if (!engines.forms.includes('plain') || !WebAssembly.validate(plain!))
    throw new Error(`${NO_SIMD} ${WITH_SIMD}`);
  return {
    starts: JSON.parse(new TextDecoder().decode(starts)),
    engines,
    kernels: { simd: plain!, fma: fma! },
  };
}

const offered = (recipe: Recipe): OfferedRecipe => ({
  name: recipe.name,
  title: recipe.title,
  summary: recipe.summary,
  rewards: Object.fromEntries(
    Object.entries(recipe.rewards).map(([name, { description }]) => [name, description]),
  ),
  variants: recipe.variants ?? {},
  figures: recipe.figures ?? {},
  cells: recipe.describe?.cells ?? {},
  groupSize: recipe.groupSize,
  freezable: recipe.freezable ?? [],
  roles: Object.fromEntries(
    Object.entries(recipe.roles).map(([name, { description }]) => [name, description]),
  ),
});

const place = open();

async function startFiles(name: string): Promise<VersionFiles> {
  const { starts } = await place;
  const files = await Promise.all(
    starts[name]!.map(async (file) => [file, await fetched(`starts/${name}/${file}`)] as const),
  );
  return Object.fromEntries(files);
}

/** Begins a run: its recipe, made from questions where the user chose some, and version 0 in a new store. */
async function begin({ settings, checkpoint, questions }: Asked & { kind: 'play' }) {
  const { engines, starts } = await place;
  // The reading of files is large, and few need it.
  const own = questions || checkpoint ? await import('./user-files.ts') : undefined;
  const made =
    questions && (await own!.recipeOnQuestions(settings.recipe, questions, Object.keys(starts)[0]!));
  const recipe = made?.recipe ?? shipped.find(settings.recipe);
  const shippedStart = await startFiles(settings.start || recipe.startPolicy);
  const start = checkpoint ? own!.checkpointOf(checkpoint, shippedStart) : shippedStart;
  const run = runOf(registry([recipe]), {
    recipe: recipe.name,
    seed: settings.seed,
    rounds: settings.rounds,
    // As at the command line, the default is left out: a run's name, and so its random numbers, tell what was asked for.
    ...(Object.keys(recipe.rewards).indexOf(settings.reward) > 0 ? { rewardFunction: settings.reward } : {}),
    ...(settings.variant ? { variant: settings.variant } : {}),
    freeze: settings.freeze ? settings.freeze.split(',') : [],
    engine: engines.forms.includes('fused') ? 'kernels' : 'kernels-plain',
    tasks: settings.tasks,
    // One answer to a task is asked for where the recipe has it so, and nowhere else.
    ...(settings.group === recipe.groupSize ? {} : { groupSize: settings.group }),
    ...(checkpoint ? { policy: 'own' } : settings.start ? { policy: settings.start } : {}),
  });
  const store = new TabStore(KEPT_VERSIONS);
  await store.commitVersion({ name: run.settings.policy, version: 0 }, start);
  return { run, store, notes: made?.notes ?? [] };
}

async function play(asked: Asked & { kind: 'play' }): Promise<void> {
  const { engines, kernels } = await place;
  const { notes, ...opened } = asked.more && begun ? { ...begun, notes: [] } : await begin(asked);
  begun = opened;
  const { store } = opened;
  const run = { ...opened.run, rounds: asked.settings.rounds };
  const { recipe, settings } = run;
  const { policy } = settings;
  const arithmetic =
    settings.engine === 'kernels'
      ? 'relaxed SIMD: the bits of every machine with fused multiply-add'
      : 'plain SIMD, since this browser has no relaxed SIMD: other last bits than where multiply-add is fused';
  const versionOf = (version: number) => store.loadVersion({ name: policy, version });
  const start = await versionOf(0);
  let latest = Promise.resolve();
  const inTurn = (work: () => Promise<void>) => {
    latest = latest.then(work);
  };
  await playRun(
    run,
    {
      engines: engines.engines,
      openDevice: async () => ({
        device: await openDeviceOn(browserHost(kernels), { device: 'cpu', revectorize: false }),
      }),
    },
    EVALUATE_EVERY,
    store,
    {
      started: ({ device, done = 0 }) =>
        tell({
          kind: 'started',
          device,
          arithmetic,
          called: recipe.called ?? recipe.name,
          done,
          notes,
          run: runIdOf(settings),
        }),
      evaluatedStart: (evaluation) =>
        inTurn(async () =>
          tell({ kind: 'evaluated', evaluation, sha256: shaOf(await versionOf(evaluation.version)) }),
        ),
      round: (line) => {
        const words = lastWords(recipe, start, store);
        inTurn(async () => tell({ kind: 'round', line, words, sha256: shaOf(await versionOf(line.to)) }));
      },
      finished: () => inTurn(async () => tell({ kind: 'finished' })),
    },
    { ...HELD_OUT, examined: EXAMINED },
  );
  await latest;
}

/** The newest version's weights, or the run's records, as a file to be downloaded. */
async function give(kind: 'save' | 'records'): Promise<void> {
  if (!begun) return;
  const { run, store } = begun;
  const { policy, recipe, seed } = run.settings;
  if (kind === 'records') {
    const bytes = new Uint8Array(await new Blob(store.recordLines()).arrayBuffer());
    tell({ kind: 'records', name: `${recipe}-seed-${seed}.jsonl`, bytes }, [bytes.buffer]);
    return;
  }
  const version = (await store.currentVersion(policy)) ?? 0;
  const files = await store.loadVersion({ name: policy, version });
  const [, weights] = fileEntries(files).find(([name]) => holdsWeights(name))!;
  const bytes = new Uint8Array(weights);
  tell({ kind: 'saved', name: `${policy}-${version}.safetensors`, bytes }, [bytes.buffer]);
}

/** Trains the versions of a receipt again, oldest first, up to the first that has other bytes. */
async function check(file: Uint8Array<ArrayBuffer>): Promise<void> {
  const { kernels } = await place;
  const [
    { comparedCode },
    { aboutReceipt, meshOfReceipt, readReceipt, requireRecipes },
    { VersionChain, verifyVersion },
  ] = await Promise.all([
    import('../verify/code.ts'),
    import('../verify/receipt.ts'),
    import('../verify/verify-version.ts'),
  ]);
  const receipt = await readReceipt(file);
  const { code, ...about } = aboutReceipt(receipt);
  const comparison = comparedCode(code, JSON.parse(new TextDecoder().decode(await fetched(CODE_FILE))));
  tell({ kind: 'receipt', bytes: file.length, sha256: receipt.sha256, comparison, ...about });
  const mesh = meshOfReceipt(receipt);
  const chain = await VersionChain.open(mesh, about.policy);
  requireRecipes(await chain.recipesOf(receipt.contents.versions), shipped);
  const device = await openDeviceOn(browserHost(kernels), { device: 'cpu', revectorize: false });
  const how = { recipes: shipped, meshKey: undefined, objectives: noObjectives, keep: mesh.keep };
  try {
    for (const version of chain.since(about.from, about.to)) {
      await breathe();
      const verified = await verifyVersion(mesh, chain, version, how);
      tell({ kind: 'verified', version: verified, manifest: chain.row(version).manifestSha256 });
      if (!verified.same) break;
    }
    tell({ kind: 'checked' });
  } finally {
    device.close();
  }
}

const sentenceOf = (error: unknown): string => {
  if (error instanceof RollmeshError) return error.message;
  const what = error instanceof Error ? error.message : String(error);
  return error instanceof RangeError && /memory|allocation/i.test(what)
    ? `The browser gives this tab no more memory (${what}). Close other tabs, or play fewer tasks a round.`
    : what;
};

const fail = (fatal: boolean) => (error: unknown) =>
  tell({ kind: 'failed', message: sentenceOf(error), fatal });

addEventListener('message', ({ data }: MessageEvent<Asked>) => {
  if (data.kind === 'play') void play(data).catch(fail(false));
  else if (data.kind === 'save' || data.kind === 'records') void give(data.kind).catch(fail(false));
  else if (data.kind === 'check') void check(data.receipt).catch(fail(false));
  else if (data.kind === 'pause') begun?.store.pause();
  else begun?.store.resume();
});

place.then(({ starts }) => {
  tell({
    kind: 'ready',
    flagship: FLAGSHIP,
    starts: Object.keys(starts),
    recipes: shipped.recipes.filter(({ startPolicy }) => startPolicy in starts).map(offered),
    onQuestions: ['grpo', ...shipped.recipes.flatMap(({ name, written }) => (written ? [name] : []))],
  });
}, fail(true));
