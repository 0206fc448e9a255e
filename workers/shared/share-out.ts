/**
 * Shares a stage's sampling out among the mesh's nodes. The stage's functions run here as ever, over a policy that knows what was computed
 * already; where they ask for more, the request is offered to nodes, and the group is left until the answers are there. An answer sends
 * the stage's message again, and the functions go on from what is known, to the same bits: a completion depends on its request alone.
 *
 * So no node ever sees a recipe or a task. Prompts that hold reference answers are marked on the list, and isolates sample them, unless a node is there
 * whose token is for them. A mesh without nodes never comes here.
 */

import { completionsSha256 } from '../../core/audit/work-seal.ts';
import { RollmeshError } from '../../core/errors.ts';
import { bringImages } from '../../core/images/shown.ts';
import type {
  GeneratePrompt,
  MeasuredSequence,
  Policy,
  PolicyRef,
  SamplingSettings,
} from '../../core/policy/policy.ts';
import { deriveLongId } from '../../core/random.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import { openRoundContext, type RoundContext, roleOf } from '../../core/recipe/round-context.ts';
import type { WorkerStage } from '../../core/round/stages.ts';
import { broughtBy, type Manifest, seenFrom, setFiles, weightsFile } from '../../core/schema/policy.ts';
import { type LeasedFile, REQUEST_ROWS, type SamplingRequest, settingsOf } from '../../core/schema/work.ts';
import { packGrammar } from '../../core/text/token-grammar.ts';
import { parseConfig } from '../../model/config.ts';
import { putJson, readJson } from '../store/objects.ts';
import type { RoundRow } from '../store/rounds.ts';
import { readTasks } from '../store/stored-tasks.ts';
import { missingVersion } from '../store/versions.ts';
import {
  closeWork,
  isScorable,
  type LeasedWork,
  leaseWork,
  type NewWork,
  noteAnswers,
  putUp,
  releaseWork,
  reopenWork,
  resultKey,
  shortenWork,
  showsGold,
  type WorkRow,
  workOf,
} from '../store/work.ts';
import { loadCommitted, manifestOf } from './committed.ts';
import {
  BudgetExceeded,
  keysOf,
  lookUp,
  measureWithin,
  type PartialRecord,
  type PartialResults,
  promptsOf,
  rowMs,
  workResults,
} from './cpu-budget.ts';
import { hasNoRoom, needsGoldNode } from './isolate-size.ts';
import { log } from './log.ts';
import type { Opening } from './open-stage.ts';
import { type StageMesh, stageParts } from './stage-mesh.ts';

interface Item {
  readonly group: string;
  readonly index: number;
}

/** What isolates take of the list: all of it, what holds gold, or nothing. */
type Part = 'all' | 'gold' | 'nothing';

/** The list of requests of a batch's groups, as far as there are nodes. */
export interface SharedList {
  readonly stage: WorkerStage;
  /** Whether a node is there now that may lease. */
  readonly live: boolean;
  /** Whether one of them is exact, and so may lease any request without gold. */
  readonly exact: boolean;
  /** Whether one may lease requests with gold, and whether an exact one may. */
  readonly gold: boolean;
  readonly exactGold: boolean;
  /** Reads the results that came since the last call. Returns how many those were. */
  readonly load: (kept: PartialResults) => Promise<number>;
  /** The groups with requests that isolates take and that are open. */
  readonly waiting: (part: Part) => ReadonlySet<string>;
  /** Takes the requests of some groups that are open or leased off the list. @returns whether there were any */
  readonly close: (of: readonly Item[]) => Promise<boolean>;
}

export function sharedList(
  { db, bucket }: Pick<StageMesh, 'db' | 'bucket'>,
  { row: { id: round, redrives }, nodes: { any, live: there, exact, gold, exactGold }, work }: Opening,
  stage: WorkerStage,
  items: readonly Item[],
): SharedList {
  // A round that shows no progress is not left to nodes: one that holds requests for ever would hold the round for ever.
  const live = there && redrives === 0;
  const loaded = new Set<string>();
  let opened = false;
  let rows: readonly WorkRow[] = [];
  return {
    stage,
    live,
    exact,
    gold,
    exactGold,
    async load(kept) {
      if (!any) return 0;
      const groups = items.map(({ group }) => group);
      rows = opened
        ? await workOf(db, round, stage, groups)
        : work.filter(({ group }) => groups.includes(group));
      opened = true;
      const fresh = rows.filter(({ id, state }) => state === 'done' && !loaded.has(id));
      const unreadable = new Set<WorkRow>();
      await Promise.all(
        fresh.map(async (row) => {
          const results = await readResults(bucket, row);
          if (!results) {
            unreadable.add(row);
            return reopenWork(db, row.id, row.lease!);
          }
          keep(kept, row.request, results);
          loaded.add(row.id);
        }),
      );
      rows = rows.map((row) => (unreadable.has(row) ? { ...row, state: 'open' } : row));
      return fresh.length - unreadable.size;
    },
    waiting: (part) =>
      new Set(
        rows
          .filter((row) => row.state === 'open' && (part === 'all' || (part === 'gold' && showsGold(row))))
          .map(({ group }) => group),
      ),
    async close(of) {
      const groups = of.map(({ group }) => group);
      const left = rows.some(
        ({ group, state }) => (state === 'open' || state === 'leased') && groups.includes(group),
      );
      if (left) await closeWork(db, round, stage, groups);
      return left;
    },
  };
}

/** The completions of a request that was answered; null where they are not there or cannot be read, so that it has to be answered again. */
async function readResults(bucket: StageMesh['bucket'], row: WorkRow): Promise<Completions | null> {
  const results = await readJson(bucket, resultKey(row), workResults).catch((error: unknown) => {
    if (!(error instanceof RollmeshError) || error.code !== 'object.damaged') throw error;
    return null;
  });
  if (!results)
    log('warn', 'work.unreadable', { round: row.round, work: row.id, node: row.node, lease: row.lease });
  return results;
}

type Completions = NonNullable<Awaited<ReturnType<Policy['generate']>>>[number];

/** Keeps completions, in the order of the request, under the keys by which a stage looks them up. */
function keep(kept: PartialResults, request: SamplingRequest, results: Completions): void {
  const { policy, prompts } = request;
  const settings = settingsOf(request);
  let at = 0;
  for (const prompt of prompts)
    for (const key of keysOf(policy, prompt, settings)) kept.add({ [key]: results[at++]! });
}

/** Thrown where a completion or a measurement is not known yet. */
class NotKnown extends Error {}

/** Sequences that a stage wants measured: isolates do that, beside what nodes sample. */
interface Unmeasured {
  readonly ref: PolicyRef;
  readonly sequences: readonly MeasuredSequence[];
}

interface Asked {
  readonly ref: PolicyRef;
  readonly prompts: readonly GeneratePrompt[];
  readonly settings: SamplingSettings;
}

/** Whether the prompts of a round's role hold reference answers. */
export const seesGold = (
  { recipes }: Pick<StageMesh, 'recipes'>,
  { spec }: RoundRow,
  role: string,
): boolean => roleOf(recipes.find(spec.settings.recipe), role).seesGold === true;

/** A policy that answers from what is known, and else notes what is asked. No weights are opened for it. */
const knownPolicy = (
  ref: PolicyRef,
  kept: PartialResults,
  ask: (asked: Asked) => void,
  askMeasured: (unmeasured: Unmeasured) => void,
): Policy => ({
  ref,
  async generate(prompts, settings) {
    const { found, missing } = lookUp(kept, ref, prompts, settings);
    if (!missing.length) return found as Completions[];
    // At most so many rows a request, whatever prompts they are of. What is known of one request does not change the others.
    const all = found.flatMap((row, p) => row.map((had, s) => ({ p, s, had })));
    for (let at = 0; at < all.length; at += REQUEST_ROWS) {
      const some = all.slice(at, at + REQUEST_ROWS).filter(({ had }) => !had);
      if (some.length) ask({ ref, prompts: promptsOf(prompts, some).map(({ prompt }) => prompt), settings });
    }
    throw new NotKnown();
  },
  async measure(sequences) {
    const found = sequences.map((sequence) => kept.measurement(ref, sequence));
    if (found.every((one) => one !== undefined)) return found;
    askMeasured({ ref, sequences });
    throw new NotKnown();
  },
  score: () => Promise.reject(new Error('internal: a stage does not score')),
  dispose: () => Promise.resolve(),
});

/** Does what can be done of the groups now. */
export async function shareOut<In extends Item, Out>(
  mesh: StageMesh,
  { row, versions }: Opening,
  list: SharedList,
  kept: PartialResults,
  /** Adds what an earlier invocation stored before there were nodes. Returns whether it found anything; a second call finds nothing more. */
  addEarlier: () => Promise<boolean>,
  /** Stores what is known of a group for a later invocation. */
  store: (group: string, known: PartialRecord) => Promise<void>,
  items: readonly In[],
  work: (context: RoundContext<Recipe>, items: readonly In[]) => Promise<readonly Out[]>,
): Promise<{ done: readonly Out[]; paused: readonly string[] }> {
  const done: Out[] = [];
  const parts = await stageParts(mesh, row, versions);
  const finished = new Set<In>();
  /** Groups with sequences that the CPU budget no longer lets this invocation measure. */
  const unaffordable = new Set<string>();
  let left = items;
  // What nodes may not lease would wait for nobody.
  let taken: Part = mesh.besideNodes || !list.exact ? 'all' : list.exactGold ? 'nothing' : 'gold';
  for (;;) {
    const wanted: NewWork[] = [];
    const unmeasured: (Unmeasured & { readonly group: string; readonly known: PartialRecord })[] = [];
    for (const item of left) {
      const asked: (Asked & { readonly gold: boolean })[] = [];
      const toMeasure: Unmeasured[] = [];
      kept.takeTouched();
      const context = openRoundContext({
        ...parts,
        use: (ref, run, role) => {
          const gold = seesGold(mesh, row, role);
          return run(
            knownPolicy(
              ref,
              kept,
              (one) => asked.push({ ...one, gold }),
              (one) => toMeasure.push(one),
            ),
          );
        },
      });
      try {
        done.push(...(await work(context, [item])));
        finished.add(item);
      } catch (error) {
        if (!(error instanceof NotKnown)) throw error;
        const known = kept.takeTouched();
        unmeasured.push(...toMeasure.map((one) => ({ ...one, group: item.group, known })));
        for (const one of asked) wanted.push(await newWork(mesh, row, list.stage, item, one));
      }
    }
    left = left.filter((item) => !finished.has(item));
    if (!left.length) break;
    if (await addEarlier()) continue;
    let measured = false;
    for (const { group, known, ...asked } of unmeasured) {
      kept.takeTouched();
      if (await measureHere(mesh, asked, kept)) measured = true;
      else unaffordable.add(group);
      await store(group, { ...known, ...kept.takeTouched() });
    }
    if (measured) continue;
    await putUp(mesh.db, row.id, list.stage, wanted, mesh.now(), row.attempt);
    // What nodes have answered meanwhile is told by a message of its own.
    if (taken === 'nothing') break;
    for (;;) {
      const tooLarge = await takePart(mesh, row, list.stage, left, taken);
      if (!tooLarge) break;
      // What an isolate cannot hold is left to the nodes that may have it.
      const { gold, request } = tooLarge.leased;
      if (gold && !list.exactGold && !(list.gold && isScorable(request))) throw needsGoldNode(tooLarge.error);
      taken = gold || list.exactGold ? 'nothing' : 'gold';
      if (taken === 'nothing') break;
    }
    if ((await list.load(kept)) === 0) break;
  }
  await list.close([...finished]);
  const open = list.waiting(taken);
  // What nodes hold is continued by their answer, or by the clock.
  const paused = left.flatMap(({ group }) => (open.has(group) || unaffordable.has(group) ? [group] : []));
  if (left.length)
    log('info', `${list.stage}.shared`, {
      round: row.id,
      done: done.length,
      left: left.length,
      paused: paused.length,
    });
  return { done, paused };
}

/** Measures sequences in this isolate. @returns false where the CPU budget does not suffice for all */
const measureHere = (
  { session, cpuBudget }: StageMesh,
  { ref, sequences }: Unmeasured,
  kept: PartialResults,
): Promise<boolean> =>
  session.use(ref, async (policy) => {
    try {
      await measureWithin(policy, kept, sequences, cpuBudget);
      return true;
    } catch (error) {
      if (!(error instanceof BudgetExceeded)) throw error;
      return false;
    }
  });

async function newWork(
  mesh: StageMesh,
  { id: round }: RoundRow,
  stage: WorkerStage,
  { group, index }: Item,
  { ref, prompts, settings: { grammar, ...settings }, gold }: Asked & { readonly gold: boolean },
): Promise<NewWork> {
  const request: SamplingRequest = {
    policy: { ...ref },
    ...(await filesOf(mesh, ref)),
    prompts: prompts.map(({ ids, sampleIds }) => ({ ids: [...ids], sampleIds: [...sampleIds] })),
    // Only undefined fields are lost on the way, which JSON does not have either.
    settings: JSON.parse(JSON.stringify(grammar ? { ...settings, grammar: packGrammar(grammar) } : settings)),
  };
  const id = await deriveLongId('work', round, stage, group, JSON.stringify(request));
  return { id, group, index, request, gold };
}

/** The files by which a node opens a version. */
async function filesOf(
  mesh: StageMesh,
  ref: PolicyRef,
): Promise<Pick<SamplingRequest, 'config' | 'weights' | 'adapter' | 'vocabSize'>> {
  const own = leasedFiles(await manifestOf(mesh, ref));
  const start = own[weightsFile(ref.set)] ? own : leasedFiles(await manifestOf(mesh, { ...ref, version: 0 }));
  const { weights, adapter } = setFiles(own, ref.set, start);
  const config = start['config.json'];
  if (!config || !weights) throw missingVersion(ref, `it lacks ${config ? 'weights' : 'config.json'}`);
  const vocabSize =
    vocabSizes.get(config.sha256) ?? (await vocabSizeOf(mesh, { ...ref, version: config.version }));
  vocabSizes.set(config.sha256, vocabSize);
  return { config, weights, ...(adapter ? { adapter } : {}), vocabSize };
}

/** The files of a manifest, each with the version that brought it. */
const leasedFiles = (manifest: Manifest): Readonly<Partial<Record<string, LeasedFile>>> =>
  Object.fromEntries(
    Object.entries(manifest.files).map(([file, entry]) => [
      file,
      {
        file: file as LeasedFile['file'],
        ...seenFrom(manifest, entry),
        version: broughtBy(manifest, entry).version,
      },
    ]),
  );

/**
 * Isolates take requests from the same list, one at a time, while their CPU budget lasts.
 * @returns the error about a request that an isolate has no room for, the request, and whether it holds gold; null where there was none
 */
async function takePart(
  mesh: StageMesh,
  row: RoundRow,
  stage: WorkerStage,
  items: readonly Item[],
  part: Part,
): Promise<{
  readonly error: unknown;
  readonly leased: { readonly request: SamplingRequest; readonly gold: boolean };
} | null> {
  const { db, now } = mesh;
  const of = { round: row.id, stage, groups: items.map(({ group }) => group) };
  for (;;) {
    const lease = crypto.randomUUID().replaceAll('-', '');
    const until = now() + mesh.cpuBudgetMs + ISOLATE_MS;
    const gold = part === 'gold';
    const [leased] = await leaseWork(
      db,
      { node: null, lease, engines: null, gold, limit: 1, until, of },
      now(),
    );
    if (!leased) return null;
    try {
      if (!(await answerHere(mesh, row, leased, lease))) return null;
    } catch (error) {
      await releaseWork(db, leased.id, lease);
      if (!hasNoRoom(error)) throw error;
      return { error, leased: { request: leased.request, gold: showsGold(leased) } };
    }
  }
}

/**
 * Computes a request that an isolate has leased, and stores the answer. Where the CPU budget does not suffice for all rows, the request is
 * cut down to those that it affords, and the stage asks for the others again. @returns false where the budget is used up
 */
async function answerHere(
  { db, bucket, session, cpuBudget, now }: StageMesh,
  { id: round }: RoundRow,
  { id, request, samples }: LeasedWork,
  lease: string,
): Promise<boolean> {
  const { policy: ref } = request;
  const settings = settingsOf(request);
  const longest = Math.max(...request.prompts.map(({ ids }) => ids.length));
  // Another isolate may have offered it.
  await bringImages(
    request.prompts.map(({ ids }) => ids),
    { read: (sha256) => readTasks(bucket, sha256) },
  );
  const made = await session.use(ref, async (policy) => {
    const rows = cpuBudget.take(samples, rowMs(policy, longest + settings.maxNew));
    if (rows === 0) return null;
    const prompts = firstRows(request.prompts, rows);
    if (rows < samples) await shortenWork(db, id, lease, { ...request, prompts }, rows);
    return (await policy.generate(prompts, settings)).flat();
  });
  if (!made) {
    await releaseWork(db, id, lease);
    return false;
  }
  await putJson(bucket, resultKey({ round, id, lease }), made);
  const tokens = made.reduce((sum, { ids }) => sum + ids.length, 0);
  const sha256 = await completionsSha256(made);
  const answer = { id, sha256, seal: null, samples: made.length, tokens };
  await noteAnswers(db, { round, node: null, lease }, [answer], now());
  return made.length === samples;
}

/** The first rows of some prompts. */
function firstRows(prompts: SamplingRequest['prompts'], rows: number): SamplingRequest['prompts'] {
  const all = prompts.flatMap(({ sampleIds }, p) => sampleIds.map((_, s) => ({ p, s })));
  return promptsOf(prompts, all.slice(0, rows)).map(({ prompt: { ids, sampleIds } }) => ({
    ids: [...ids],
    sampleIds: [...sampleIds],
  }));
}

/** Sizes of vocabularies, by the sha256 of config.json: all versions of a policy share one. */
const vocabSizes = new Map<string, number>();

async function vocabSizeOf(mesh: StageMesh, ref: PolicyRef): Promise<number> {
  const { 'config.json': bytes } = await loadCommitted(mesh, ref, ['config.json']);
  if (!bytes) throw missingVersion(ref, 'it lacks config.json');
  return parseConfig(JSON.parse(new TextDecoder().decode(bytes))).vocabSize;
}

/** How much longer an isolate holds a request than its CPU budget, ms: opening a version takes time, too. */
const ISOLATE_MS = 30_000;
