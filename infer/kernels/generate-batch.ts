/**
 * Generates a batch: each prompt is prefilled once and its cache shared by its samples; then each turn gives every row one token. A row
 * that has ended leaves the batch, so that later turns compute only the rows that go on.
 */
import type { Alternative, Completion, SamplingSettings, TokenIds } from '../../core/policy/policy.ts';
import { uniforms } from '../../core/random.ts';
import { after, restricts } from '../../core/text/token-grammar.ts';
import { alternativesTo } from '../alternatives.ts';
import { type Cache, newCache } from './cache.ts';
import type { Decoder, Work } from './decoder.ts';
import { type CachePart, type KeptCache, restore } from './kept-turns.ts';
import { PORTION, readSequence } from './read.ts';

/** A prompt and those of its samples that are generated in this batch. */
export interface BatchPrompt {
  readonly ids: TokenIds;
  readonly sampleIds: readonly string[];
  /** The keys and values of the prompt's first tokens, where an earlier turn left them. */
  readonly known?: KeptCache | undefined;
}

/** Told of each generated sequence, while its caches are still there: the tokens that they hold, and where. */
export type Generated = (ids: TokenIds, parts: readonly CachePart[]) => void;

interface Prompt {
  /** The cache of the prompt's tokens but the last, and (`length`) their number. */
  readonly cache: Cache;
  readonly length: number;
}

interface Row {
  readonly prompt: Prompt;
  readonly cache: Cache;
  readonly uniforms: Float32Array;
  readonly completion: {
    ids: number[];
    logprobs: number[];
    stopped: boolean;
    alternatives?: Alternative[][];
  };
  last: number;
  /** The state of the grammar. */
  state: number;
}

/** The addresses of the inputs and outputs of a draw. Each area holds one value for each row, unless said otherwise. */
interface Draws {
  readonly logits: number;
  /** The addresses of the rows' caches, i32. */
  readonly caches: number;
  /** The addresses of the tables of what the grammar allows, i32; 0 allows everything. */
  readonly allowed: number;
  readonly uniforms: number;
  readonly tokens: number;
  readonly logprobs: number;
  /** A work area for one row of logits. */
  readonly room: number;
}

/** A batch that is being generated. */
export interface OpenBatch {
  /** [prompts][samples]; they grow with every turn. */
  readonly completions: Completion[][];
  /** Gives each row that goes on one token. Returns false, and does nothing, where none does. */
  turn(): boolean;
  /** Leaves the heap as it was before the batch. */
  close(): void;
}

/** Opens a batch: its prompts are prefilled. The settings must have been checked, with maxNew at least 1. */
export function openBatch(
  decoder: Decoder,
  prompts: readonly BatchPrompt[],
  settings: SamplingSettings,
  generated?: Generated,
): OpenBatch {
  const { heap } = decoder;
  const { mark } = heap;
  const { maxNew } = settings;
  const samples = prompts.reduce((sum, { sampleIds }) => sum + sampleIds.length, 0);
  const longest = Math.max(...prompts.map(({ ids }) => ids.length));
  const work = decoder.work(Math.max(samples, Math.min(PORTION, longest)), samples, longest + maxNew);
  const rows = prompts.map((prompt) => openRows(decoder, work, prompt, settings));
  const draws = drawsOf(decoder, samples);
  const grammar = grammarOf(decoder, settings, samples);
  const stops = new Set(settings.stop);
  let live = rows.flat();
  let turn = 0;
  return {
    completions: rows.map((row) => row.map(({ completion }) => completion)),
    turn() {
      if (turn === maxNew || live.length === 0) return false;
      runTurn(decoder, work, draws, live, turn);
      drawTokens(decoder, draws, live, turn, settings, grammar);
      live = live.filter((row) => {
        row.completion.stopped = stops.has(row.last) || (grammar?.ends(row.state) ?? false);
        return !row.completion.stopped;
      });
      turn++;
      return true;
    },
    close() {
      if (generated)
        rows.forEach((ofPrompt, p) => {
          for (const { prompt, cache, completion } of ofPrompt)
            generated(
              // The last token that was drawn has not been read.
              [...prompts[p]!.ids, ...completion.ids.slice(0, -1)],
              [
                { cache: prompt.cache, count: prompt.length },
                { cache, count: completion.ids.length },
              ],
            );
        });
      heap.backTo(mark);
    },
  };
}

/** Prefills a prompt without its last token, which is the first input of its rows. */
function openRows(
  decoder: Decoder,
  work: Work,
  { ids, sampleIds, known }: BatchPrompt,
  { maxNew, alternatives }: SamplingSettings,
): Row[] {
  const { heap, config } = decoder;
  const prompt = { cache: newCache(heap, config, ids.length - 1), length: ids.length - 1 };
  const restored = known && restore(decoder, known, prompt.cache);
  readSequence(decoder, work, ids.slice(0, -1), prompt.cache, restored);
  return sampleIds.map((id) => ({
    prompt,
    cache: newCache(heap, config, maxNew),
    uniforms: uniforms(id, maxNew),
    completion: { ids: [], logprobs: [], stopped: false, ...(alternatives ? { alternatives: [] } : {}) },
    last: ids.at(-1)!,
    state: 0,
  }));
}

function drawsOf({ heap, logitsWidth }: Decoder, rows: number): Draws {
  const [caches, allowed, drawn, tokens, logprobs] = Array.from({ length: 5 }, () => heap.take(4 * rows)) as [
    number,
    number,
    number,
    number,
    number,
  ];
  const logits = heap.take(4 * rows * logitsWidth);
  return { caches, allowed, uniforms: drawn, tokens, logprobs, logits, room: heap.take(4 * logitsWidth) };
}

/** Runs the last token of each live row through the layers. */
function runTurn(decoder: Decoder, work: Work, draws: Draws, live: readonly Row[], turn: number): void {
  const { kernels, heap, qkvWidth } = decoder;
  const { heads, kvHeads, headDim } = decoder.config;
  const rows = live.length;
  const keys = work.qkv + 4 * heads * headDim;
  const { room, layer: layerBytes } = live[0]!.cache;
  const runs = neighbours(live);
  heap.integers(draws.caches, rows).set(live.map(({ cache }) => cache.at));
  const ids = live.map(({ last }) => last);
  const positions = live.map(({ prompt }) => prompt.length + turn);
  decoder.run(work, ids, positions, (layer) => {
    const own = layer * layerBytes;
    kernels.appendRows(rows, qkvWidth, keys, draws.caches, own, kvHeads, headDim, room, turn);
    for (const { from, count, prompt } of runs)
      kernels.attendSamples(
        count,
        heads,
        kvHeads,
        headDim,
        work.qkv + 4 * from * qkvWidth,
        qkvWidth,
        work.input + 4 * from * heads * headDim,
        prompt.cache.at + layer * prompt.cache.layer,
        prompt.cache.room,
        prompt.length,
        draws.caches + 4 * from,
        own,
        room,
        turn + 1,
        ...decoder.attended(layer),
        work.attention,
      );
  });
  decoder.logits(rows, work, draws.logits);
}

/** The runs of rows that share a prompt. The rows of a prompt are neighbours and stay so when others leave. */
function neighbours(live: readonly Row[]): { from: number; count: number; prompt: Prompt }[] {
  const runs: { from: number; count: number; prompt: Prompt }[] = [];
  for (const [i, { prompt }] of live.entries()) {
    const run = runs.at(-1);
    if (run?.prompt === prompt) run.count++;
    else runs.push({ from: i, count: 1, prompt });
  }
  return runs;
}

interface LaidGrammar {
  /** The address of the table of what is allowed in a state; 0 if everything is. `states`: those of all rows of the draw. */
  allowed(states: readonly number[]): number[];
  next(state: number, token: number): number;
  ends(state: number): boolean;
}

/** Lays out tables by token for the states that rows are in, since the kernels read no classes: as many as there are rows, or states, at most. */
function grammarOf({ heap }: Decoder, { grammar }: SamplingSettings, rows: number): LaidGrammar | undefined {
  if (!grammar) return undefined;
  const { ends, states, vocabSize } = grammar;
  const bounded = Array.from({ length: states }, (_, state) => restricts(grammar, state));
  const count = Math.min(rows, bounded.filter((is) => is).length);
  const free = Array.from({ length: count }, () => heap.take(4 * vocabSize));
  /** The states that are laid out, the one that was needed last at the end. */
  const laid = new Map<number, number>();
  const layOut = (state: number, needed: ReadonlySet<number>): number => {
    let at = laid.get(state) ?? free.pop();
    if (at === undefined) {
      const [unused, its] = [...laid].find(([other]) => !needed.has(other))!;
      laid.delete(unused);
      at = its;
    }
    if (!laid.delete(state)) {
      const table = heap.integers(at, vocabSize);
      const row = grammar.next[state]!;
      for (let id = 0; id < vocabSize; id++) table[id] = row[grammar.classOf[id]!]!;
    }
    laid.set(state, at);
    return at;
  };
  return {
    allowed: (of) => {
      const needed = new Set(of);
      return of.map((state) => (bounded[state] ? layOut(state, needed) : 0));
    },
    next: (state, token) => after(grammar, state, token),
    ends: (state) => ends[state]!,
  };
}

/** Draws the next token of each live row from its logits. */
function drawTokens(
  { kernels, heap, config, logitsWidth }: Decoder,
  draws: Draws,
  live: readonly Row[],
  turn: number,
  settings: SamplingSettings,
  grammar: LaidGrammar | undefined,
): void {
  const { temperature, topK = 0, topP = 1 } = settings;
  const rows = live.length;
  const allowed = grammar?.allowed(live.map(({ state }) => state)) ?? live.map(() => 0);
  heap.integers(draws.allowed, rows).set(allowed);
  heap.floats(draws.uniforms, rows).set(live.map((row) => row.uniforms[turn]!));
  const greedy = temperature === 0;
  kernels.draw(
    rows,
    config.vocabSize,
    logitsWidth,
    draws.logits,
    greedy ? 1 : 1 / temperature,
    Number(greedy),
    topK,
    topP,
    draws.allowed,
    draws.uniforms,
    draws.tokens,
    draws.logprobs,
    draws.room,
  );
  const tokens = heap.integers(draws.tokens, rows);
  const logprobs = heap.floats(draws.logprobs, rows);
  live.forEach((row, i) => {
    row.last = tokens[i]!;
    row.completion.ids.push(row.last);
    row.completion.logprobs.push(logprobs[i]!);
    // The draw has hidden what it could not draw.
    row.completion.alternatives?.push(
      alternativesTo(
        row.last,
        logprobs[i]!,
        heap.floats(draws.logits + 4 * i * logitsWidth, config.vocabSize),
        settings,
      ),
    );
    if (grammar) row.state = grammar.next(row.state, row.last);
  });
}
