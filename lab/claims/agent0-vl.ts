/** The claim of Agent0-VL: a verifier that is the policy itself teaches it to reason about pictures, since it checks steps by a tool. */
import type { Claim } from '../rule/claim.ts';
import { coinArm, doesNotRise, endsAbove, formatArm, POINTS, rises, seesMore } from '../rule/conditions.ts';
import { lately } from '../rule/curves.ts';

const SKILL = 'accuracy';

export const claim: Claim = {
  description:
    'A policy that verifies its own steps by a tool, and is paid by nobody else, answers held-out questions about maps better than one whose verifier reads the steps alone.',
  rounds: 36,
  tokens: 40_000,
  evaluateEvery: 36,
  arms: [
    { name: 'agent0-vl', description: 'as published: the verifier looks for itself' },
    {
      name: 'text audit',
      variant: 'text-audit',
      description: 'the verifier is shown no picture and reads what was said',
    },
    {
      name: 'no repair',
      variant: 'no-repair',
      seedCount: 4,
      description: 'no step is written again',
    },
    {
      name: 'outcome',
      reward: 'outcome',
      seedCount: 4,
      description: 'an exact answer earns 1 more, as in the published code',
    },
    {
      name: 'other pictures',
      variant: 'other-pictures',
      seedCount: 4,
      description: 'control: another map is shown than the one that is asked about',
    },
    coinArm('a fair coin in place of each score'),
    formatArm('any episode that ends with an answer is paid'),
  ],
  conditions: [
    endsAbove('agent0-vl', 'text audit', POINTS, SKILL),
    rises('agent0-vl', POINTS, SKILL),
    {
      description: 'agent0-vl: share of verdicts that agree with the oracle, last five rounds',
      measure: (r, s) => lately(r, 'agent0-vl', s, 'agreement'),
      atLeast: 0.7,
    },
    doesNotRise('other pictures', POINTS, SKILL),
    doesNotRise('random', POINTS, SKILL),
  ],
  observations: [
    seesMore('agent0-vl', POINTS),
    endsAbove('outcome', 'agent0-vl', POINTS, SKILL),
    endsAbove('agent0-vl', 'no repair', POINTS, SKILL),
    endsAbove('agent0-vl', 'format', POINTS, SKILL),
    {
      description:
        'agent0-vl: share of verdicts that approve, less what is right by the oracle, last five rounds',
      measure: (r, s) => lately(r, 'agent0-vl', s, 'approved') - lately(r, 'agent0-vl', s, 'judgedRight'),
      atMost: 0.2,
    },
  ],
};
