/** The claim of SC-VLA: a robot that forecasts its own progress learns faster from that than from success alone. */
import type { Claim } from '../rule/claim.ts';
import { coinArm, doesNotRise, endsAbove, formatArm, POINTS, rises } from '../rule/conditions.ts';
import { lately } from '../rule/curves.ts';

const SKILL = 'accuracy';

export const claim: Claim = {
  description:
    'A robot whose turns are paid by the change of its own forecast of progress reaches its goal in more held-out rooms than one that is paid for success alone, at equal tokens. Forecasts that change places do not do that.',
  rounds: 24,
  tokens: 42_000,
  evaluateEvery: 24,
  arms: [
    { name: 'sc-vla', description: 'as published' },
    { name: 'sparse', variant: 'sparse', description: 'the last turn alone is paid, for success' },
    {
      name: 'shuffled',
      variant: 'shuffled',
      seedCount: 4,
      description: 'control: forecasts change places among the turns of the round',
    },
    {
      name: 'blind',
      variant: 'blind',
      seedCount: 4,
      description: 'control: the robot sees noise in place of the room',
    },
    coinArm('a fair coin pays an episode'),
    formatArm('turns that keep to the grammar are paid'),
  ],
  conditions: [
    endsAbove('sc-vla', 'sparse', POINTS, SKILL),
    rises('sc-vla', POINTS, SKILL),
    {
      description: 'sc-vla: correlation of the forecasts with how near the goal is, last five rounds',
      measure: (r, s) => lately(r, 'sc-vla', s, 'foresight'),
      atLeast: 0.3,
    },
    doesNotRise('blind', POINTS, SKILL),
    doesNotRise('random', POINTS, SKILL),
  ],
  observations: [
    endsAbove('sc-vla', 'sparse', POINTS),
    endsAbove('sc-vla', 'shuffled', POINTS, SKILL),
    endsAbove('sc-vla', 'format', POINTS, SKILL),
  ],
};
