/**
 * Documents that come in a stream, to be taken in by a policy's weights: the numbers of five names each, and no name comes twice in a stream. Before a
 * document is taken in the policy names which of its own layers may change.
 *
 *     document   facts                       be3 da7 ko2 mi5 tu1
 *     updater    <propose>facts<sep>     ->  02<eos>                    the layers 0 and 2, in rising order
 *     telling    the facts in any order      ko2 mi5 tu1 be3 da7
 */
import type { Random } from '../../core/random.ts';
import { drawUntil, type EvaluationTasks } from '../../core/recipe/split.ts';
import { invalid, ok, type ParseResult } from '../../core/recipe/task-family.ts';
import { STOP, withoutStop } from '../worked.ts';
import { drawFacts, type Fact, heldOutDocuments, parseFacts, prefixOf, writeFacts } from './family.ts';

/** Layers that may be named, from 0: those of the start. */
export const LAYERS = [0, 1, 2, 3] as const;
/** Documents in a stream. */
export const STREAM = 6;
/** A digit for each layer, and the end. */
export const UPDATE_TOKENS = LAYERS.length + 1;

export const updatePrompt = (document: string): string => `<propose>${document}<sep>`;

/** Every set of layers that can be named: one for each number whose binary digits say which are in it. */
export const layerSets: readonly (readonly number[])[] = Array.from(
  { length: 2 ** LAYERS.length - 1 },
  (_, i) => LAYERS.filter((layer) => ((i + 1) >> layer) % 2 === 1),
);

export const writeLayers = (layers: readonly number[]): string => layers.join('') + STOP;

/** The layers that an answer names. Reasons: off-grammar. */
export function parseLayers(text: string): ParseResult<readonly number[]> {
  const named = withoutStop(text);
  const layers = layerSets.find((set) => set.join('') === named);
  return layers ? ok(layers) : invalid('off-grammar');
}

/** Documents of the training side that come one after the other. */
export function drawStream(random: Random): string[] {
  const told = new Set<string>();
  return Array.from({ length: STREAM }, () => {
    const facts = drawUntil(
      () => drawFacts(random),
      (drawn) => drawn.every(({ name }) => !told.has(name)),
    );
    for (const { name } of facts) told.add(name);
    return writeFacts(facts);
  });
}

/** The document in `count` orders, none twice. */
export function tellings(random: Random, document: string, count: number): string[] {
  const facts = factsOf(document);
  const orders = new Set<string>();
  while (orders.size < count) orders.add(writeFacts(random.shuffle(facts)));
  return [...orders];
}

/** The numbers of a telling, each with the text before it. */
export const numbersOf = (telling: string): { readonly before: string; readonly number: string }[] =>
  factsOf(telling).map(({ name, number }, i, all) => ({
    before: [...all.slice(0, i).map(({ name, number }) => `${name}${number}`), name].join(' '),
    number: String(number),
  }));

function factsOf(document: string): readonly Fact[] {
  const facts = parseFacts(document);
  if (!facts) throw new Error(`internal: ${document} is no document`);
  return facts;
}

export const heldOutFacts = (asked?: EvaluationTasks): string[] =>
  heldOutDocuments(asked).map((document) => prefixOf(document).slice(0, -1));
