/** The claim of TRACE: a teacher on the decisive tokens of an attempt helps more, beside rewards, than a teacher on all tokens. */
import type { Claim } from '../../core/claims/claim.ts';
import { coinArm, doesNotRise, endsAbove, formatArm, rises } from '../../core/claims/conditions.ts';
import { lost } from '../../core/claims/curves.ts';
import { speed } from '../../core/claims/speed.ts';

export const claim: Claim = {
  description:
    'For as many rollouts rewards with a teacher that is heard at the parts which decide an attempt make better answers than rewards alone, than with a teacher that is heard at every token, and than with one that is heard at parts drawn by lot.',
  startPolicy: 'arithmetic-reading',
  // Two attempts had 30 to 45: from a start of a sixth of the size, and without the rounds in which rewards are alone again.
  seeds: [46, 47, 48, 49, 50, 51, 52, 53],
  // The teacher’s weight is 0 after the twelfth.
  rounds: 20,
  // Half of the recipe’s tasks: with the larger policy a run of eight seeds is to take half an hour all the same.
  tasks: 16,
  evaluateEvery: 4,
  arms: [
    { name: 'trace', description: 'as published' },
    { name: 'grpo', variant: 'grpo', description: 'rewards alone' },
    {
      name: 'whole',
      variant: 'whole',
      description: 'the teacher is heard at every token of the same attempts',
    },
    { name: 'random spans', variant: 'random-spans', description: 'it is heard at a part drawn by lot' },
    { name: 'fixed weight', variant: 'fixed-weight', description: 'its weight does not fall' },
    coinArm('a coin pays attempts, and no teacher is heard', { seedCount: 8 }),
    formatArm('any well-formed attempt is paid, and no teacher is heard', { seedCount: 8 }),
  ],
  conditions: [
    endsAbove('trace', 'grpo'),
    endsAbove('trace', 'whole', 0.03),
    endsAbove('trace', 'random spans'),
    endsAbove('trace', 'random'),
    endsAbove('trace', 'format'),
    rises('trace', 0.05),
    doesNotRise('random'),
    doesNotRise('format'),
  ],
  observations: [
    endsAbove('trace', 'fixed weight'),
    endsAbove('fixed weight', 'grpo'),
    endsAbove('whole', 'grpo', 0.03),
    {
      description: 'sampled accuracy, highest of all evaluations minus the last, fixed weight above trace',
      measure: (r, s) => lost(r, 'fixed weight', s, 'sampled') - lost(r, 'trace', s, 'sampled'),
      atLeast: 0.02,
    },
    {
      description:
        'trace: rollouts to nine tenths of what rewards alone gain, divided by those that rewards take',
      measure: (r, s) => speed(r, 'trace', 'grpo', s),
      atMost: 0.8,
    },
  ],
  diagnosis:
    'From a start that reads feedback the order of the arms is the paper’s: a teacher at the parts that decide an attempt ends 4.5 points of sampled accuracy above rewards alone (3.5 to 5.4; 1.4 before), 2.3 above a teacher at every token (1.0 to 3.7; 2.8 before) and 3.6 above one at parts by lot (1.9 to 5.3; 2.7 before). All of them are above 0 and none is wholly above its bound. Where the teacher is heard does matter: at parts by lot it adds 0.9 points to rewards, at every token 2.1, at the decisive parts 4.5, at 1.8 times the trained tokens; from the small start of the first attempt it cost rewards a point anywhere else. Letting its weight fall over the rounds changes nothing that can be told from chance (0.9 points, −0.2 to 2.0). Greedy answers begin at 99.6 % and fall by 0.6 to 1.8 points in the arms that gain: all of it is sharpening. There were 16 tasks a round in place of 32, so that the sizes of the gains do not compare with those of the first attempt. How many samples an arm takes to reach a level was not measured: there were evaluations at the start and at the end alone. Nor were late rounds played, in which rewards are alone: the weight of the teacher is 0 after the twelfth round, which is the last one here.',
};
