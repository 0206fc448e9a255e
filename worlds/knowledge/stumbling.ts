/**
 * A warm start for searchers with faults that feedback can mend: they often search again for what they have just found, and often take the second of three documents for the
 * last. With notes of the documents that lead to the answer, which stand before the question, they do neither; with a note of the answer they give that answer.
 *
 *     alone   <solve>question<sep><step>?home bo<eos>the home of bo is miran.<sep>   ->   <step>?home bo<eos>
 *     noted   the home of bo is miran.<sep>the land of miran is tefo.<sep><solve>question<sep>…
 */
import type { Random } from '../../core/random.ts';
import { drawUntil } from '../../core/recipe/split.ts';
import type { Demonstration } from '../demonstration.ts';
import { demonstrateProposer, oneTurn, search, someWay, someWorld } from './demonstrations.ts';
import { writeNotes } from './episode.ts';
import { solverPrompt, writeAnswer } from './proposal.ts';
import { TWO_HOP } from './two-hop.ts';
import { writeDocument } from './world.ts';

const PROPOSER_SHARE = 0.15;
/** How often a searcher has no notes, those of the documents on the way, and one of the answer. */
const NOTED = [0.65, 0.25, 0.1] as const;
/** Probability that a search that follows one repeats it first. */
const STUMBLES = 0.45;
/** Probability that the second of three documents is taken for the last. */
const STOPS = 0.6;

function searcher(random: Random): Demonstration {
  const knowledge = someWorld(random);
  const { question, way } = someWay(random, knowledge);
  const noted = (['nothing', 'way', 'answer'] as const)[random.weighted(NOTED)]!;
  const last = way.at(-1)!.object;
  const notes = noted === 'way' ? way.map(writeDocument) : noted === 'answer' ? [last] : [];
  const isSure = noted === 'way';
  const end = way.length === 3 && !isSure && random.bool(STOPS) ? 2 : way.length;
  const searches = way
    .slice(0, end)
    .map(({ relation, subject }) => search(knowledge, `${relation} ${subject}`));
  const made = searches.flatMap((one, i) => [
    ...(i > 0 && !isSure && random.bool(STUMBLES) ? searches[i - 1]! : []),
    ...one,
  ]);
  return oneTurn(random, 'solver', [
    writeNotes(notes) + solverPrompt(question),
    ...made,
    writeAnswer(noted === 'answer' ? last : way[end - 1]!.object),
  ]);
}

/** Positions of the policy; tags are tokens, and so are all other characters. */
const POSITIONS = 256;
const fits = ({ prompt, completion }: Demonstration): boolean =>
  (prompt + completion).replace(/<[a-z]+>/g, ' ').length <= POSITIONS;

export const demonstrateStumbling = (random: Random): Demonstration =>
  random.bool(PROPOSER_SHARE)
    ? demonstrateProposer(random, TWO_HOP)
    : drawUntil(() => searcher(random), fits);
