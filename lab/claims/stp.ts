/** The claim of STP: training on conjectures at the edge of what the prover can do proves more of a fixed set than training on the set alone. */
import type { ArmResults, Claim, Measure } from '../rule/claim.ts';
import { coinArm, doesNotRise, endsAbove, formatArm, POINTS, rises } from '../rule/conditions.ts';
import { lately } from '../rule/curves.ts';

/** The difference between two arms in a figure of the last round. */
const above =
  (arm: string, other: string, figure: string): Measure =>
  (results: ArmResults, seed: number) =>
    lately(results, arm, seed, figure, 1) - lately(results, other, seed, figure, 1);

export const claim: Claim = {
  description:
    'A prover that also proves conjectures of its own, chosen at the edge of what it can do and near to what it has not proved, proves more statements of a set and of a held-out set than one that spends the same attempts on the set alone. Conjectures that nobody chose, that are not matched with the set, or that an untrained conjecturer writes help less.',
  rounds: 24,
  quickRounds: 3,
  evaluateEvery: 12,
  arms: [
    { name: 'stp', description: 'as published' },
    {
      name: 'expert iteration',
      variant: 'expert-iteration',
      description: 'all attempts are at statements of the set; nobody conjectures',
    },
    {
      name: 'no matching',
      variant: 'no-matching',
      description: 'conjectures that are barely proved count alike, near to the set or not',
    },
    {
      name: 'random conjectures',
      variant: 'random-conjectures',
      description:
        'conjectures are the ends of random walks, and so can be proved; nobody learns to write them',
    },
    {
      name: 'frozen conjecturer',
      freeze: ['conjecturer'],
      description: 'the conjecturer stays at version 0',
    },
    coinArm('a coin accepts proofs that are well-formed'),
    formatArm('every well-formed proof is accepted'),
  ],
  partners: [{ partner: 'conjecturer', trained: 'stp', frozen: 'frozen conjecturer' }],
  conditions: [
    endsAbove('stp', 'expert iteration'),
    {
      description: 'share of the set that is proved at the end, stp above expert iteration',
      measure: above('stp', 'expert iteration', 'proved'),
      atLeast: POINTS,
    },
    endsAbove('stp', 'no matching'),
    endsAbove('stp', 'random conjectures'),
    endsAbove('stp', 'frozen conjecturer'),
    rises('stp', POINTS),
    doesNotRise('random'),
    doesNotRise('format'),
  ],
  observations: [
    {
      description: 'share of the set that is proved at the end, stp above random conjectures',
      measure: above('stp', 'random conjectures', 'proved'),
      atLeast: POINTS,
    },
  ],
  diagnosis:
    'What is gained is sampled accuracy: greedy proofs of held-out statements stay at 21 % in every arm or become fewer, so that the prover is sharpened and proves nothing new. Conjectures keep the prover from forgetting, as the pilot had it: expert iteration, all of whose attempts are at the set, proves 10 points more of the set (66 % against 57 %) and loses 4.8 points of greedy accuracy elsewhere, where STP loses none. That is a trade of the set for the rest, not the gain on both that is claimed. And it takes no conjecturer: the ends of random walks, at no cost of proposing, end 2.2 points above STP in sampled accuracy on eight of eight seeds, an untrained conjecturer 1.2 points above it, and choosing conjectures near to what is not proved makes no difference (−0.2 ± 0.5). With random statements 19 % of all attempts of the last round are proofs, with the conjecturer’s 4.6 % (seed 30), and the last round trains on twice as many tokens: the number of proofs may count for more here than being at the edge. Whether a conjecturer pays where random statements are useless, as in Lean, cannot be seen here.',
};
