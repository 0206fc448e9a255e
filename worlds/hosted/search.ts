/** The searchable world, served to policies that others train: questions of one to three hops, a search tool, and an answer. */
import type { HostedEnvironment, HostedSplit, HostedTool } from '../../core/episodes/hosted-environment.ts';
import { Random } from '../../core/random.ts';
import { answerOf, listFindings, pathQuestions, theWorld } from '../knowledge/episode.ts';
import { FINDINGS, MAX_SEARCHES } from '../knowledge/proposal.ts';

const argument = (name: string, schema: object): HostedTool['input_schema'] => ({
  type: 'object',
  properties: { [name]: { type: 'string', ...schema } },
  required: [name],
  additionalProperties: false,
});

const SEARCH: HostedTool = {
  name: 'search',
  description: 'Finds the document that has the most words of the query.',
  input_schema: argument('query', {
    description: 'lower-case words',
    pattern: '^ *[a-z0-9][a-z0-9 ]*$',
    maxLength: 120,
  }),
};
const ANSWER: HostedTool = {
  name: 'answer',
  description: 'Answers the question, and ends the episode.',
  input_schema: argument('name', {
    description: 'the name that is asked for, in lower case',
    pattern: '^[a-z]{1,20}$',
  }),
};

const RULES = `The question is about people, towns, guilds and lands that exist in documents of one sentence each and nowhere else. Search at most ${MAX_SEARCHES} times, then answer with one name. Only the right name is paid.`;

const questions = new Map<HostedSplit, readonly string[]>();
/** Every question of a split, in an order that mixes the numbers of hops; each question's own text decides which side of the split it is on. */
function questionsOf(split: HostedSplit): readonly string[] {
  const known = questions.get(split);
  if (known) return known;
  const all = Array.from({ length: MAX_SEARCHES }, (_, i) =>
    pathQuestions(theWorld(), i + 1, split === 'test'),
  ).flat();
  const mixed = new Random(`knowledge/hosted/${split}`).shuffle(all);
  questions.set(split, mixed);
  return mixed;
}

export const hostedSearch: HostedEnvironment = {
  name: 'search',
  tools: [SEARCH, ANSWER],
  count: (split) => questionsOf(split).length,
  task: (split, index) => {
    const question = questionsOf(split)[index]!;
    const right = answerOf(theWorld(), question);
    return {
      taskView: { question, ...(split === 'train' ? { answer: right } : {}) },
      prompt: [RULES, question],
      after: (calls) => {
        const { name, input } = calls.at(-1)!;
        if (name === ANSWER.name) {
          const isRight = input.name === right;
          return { text: isRight ? 'Right.' : 'Wrong.', reward: Number(isRight), finished: true };
        }
        // The recipe's solver has as many turns: one more than the number of searches that it is told of.
        const finished = calls.length > MAX_SEARCHES;
        const text = listFindings(theWorld().index.search(String(input.query), FINDINGS));
        return { text, reward: finished ? 0 : null, finished };
      },
    };
  },
};
