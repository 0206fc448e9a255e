/** The claim of LaSeR: self-scores learn to tell right answers from wrong ones, and improve a vote, at no cost to accuracy. */
import type { Claim, Measure } from '../rule/claim.ts';
import { coinArm, doesNotRise, endsNoLower, formatArm, POINTS, rises } from '../rule/conditions.ts';
import { lately } from '../rule/curves.ts';

const above =
  (figure: string, arm: string, other: string): Measure =>
  (r, s) =>
    lately(r, arm, s, figure) - lately(r, other, s, figure);
const AUC = 'area under the ROC curve of self-scores, last five rounds';

export const claim: Claim = {
  description:
    'The probability of one unused token after an answer learns to tell right answers from wrong ones, also among answers to the same task, while GRPO alone and rewards of other answers teach it nothing of the kind. A vote that is weighted by it is right more often than a majority, and answers are exact as often as with GRPO.',
  rounds: 24,
  evaluateEvery: 12,
  pictures: { sampled: 'Sampled accuracy on held-out tasks' },
  arms: [
    { name: 'laser', description: 'as published' },
    { name: 'grpo', variant: 'grpo', description: 'the score is read and not trained' },
    {
      name: 'shuffled targets',
      variant: 'shuffled-targets',
      description: 'scores are trained to the rewards of other answers',
    },
    coinArm('a coin pays answers and is what scores are trained to'),
    formatArm('any well-formed answer is paid, and scores are trained to that'),
  ],
  conditions: [
    { description: `laser: ${AUC}`, measure: (r, s) => lately(r, 'laser', s, 'auc'), atLeast: 0.65 },
    { description: `${AUC}, laser above grpo`, measure: above('auc', 'laser', 'grpo'), atLeast: POINTS },
    {
      description: `${AUC}, laser above shuffled targets`,
      measure: above('auc', 'laser', 'shuffled targets'),
      atLeast: POINTS,
    },
    {
      description: `laser: ${AUC}, among answers to the same task`,
      measure: (r, s) => lately(r, 'laser', s, 'groupAuc'),
      atLeast: 0.6,
    },
    {
      description:
        'laser: share of votes that are exact, last five rounds, weighted by self-scores above counted',
      measure: (r, s) => lately(r, 'laser', s, 'scoredVote') - lately(r, 'laser', s, 'vote'),
      atLeast: 0.02,
    },
    endsNoLower('laser', 'grpo', 0.03),
    rises('laser', POINTS),
    doesNotRise('random'),
    doesNotRise('format'),
  ],
  diagnosis:
    'The score learns something, and not what it is wanted for. Over all answers of a round it tells right from wrong ones with an area under the curve of 0.69, where targets of other answers leave it at 0.52. But the untrained token has 0.62 already, probably by the length of the task, and among answers to one task the trained score is at chance (0.44 to 0.54): it knows how hard a question is and not which answer is right. So a vote that it weights is right 3.4 points less often than a count. The paper’s models may compute enough at the last token to check what they wrote; a policy of 190,000 parameters does not. Accuracy costs little (1.1 points less than GRPO, 0 to 2.3), and what rises is sampled accuracy: greedy answers stay where they were, so that a policy is sharpened.',
};
