/** How a data set of the Hugging Face Hub is named among files of tasks, and how sets that many use name their columns. */
import { wrongInput } from '../../core/errors.ts';
import type { TaskFileSettings } from '../../worlds/file/read-tasks.ts';

export const PREFIX = 'hf://datasets/';

export interface HubDataset {
  readonly repository: string;
  readonly config?: string;
  readonly split?: string;
}

/** Reads `hf://datasets/ORG/NAME`, with `/CONFIG` and `/SPLIT` behind it where they are named; undefined for the path of a file. Throws `hub.name`. */
export function hubDataset(text: string): HubDataset | undefined {
  if (!text.startsWith('hf:')) return undefined;
  const [, repository, config, split] =
    /^hf:\/\/datasets\/(\w[\w.-]{0,95}\/\w[\w.-]{0,95})(?:\/(\w[\w.-]{0,95}))?(?:\/(\w[\w.-]{0,95}))?$/.exec(
      text,
    ) ?? [];
  if (!repository)
    throw wrongInput('hub.name', `${JSON.stringify(text)} names no data set of the Hub.`, {
      expected: `${PREFIX}ORGANISATION/NAME, with /CONFIG and /SPLIT behind it where there are several`,
      next: 'Take the name from the address of the data set’s page.',
    });
  return { repository, ...(config ? { config } : {}), ...(split ? { split } : {}) };
}

type Columns = Partial<Pick<TaskFileSettings, 'fields' | 'reference' | 'difficulty'>>;
const PROBLEMS: Columns = { fields: { question: 'problem' } };
/** How sets that many use name their columns, by their repositories. */
const COLUMNS: Readonly<Record<string, Columns>> = {
  'openai/gsm8k': { reference: ['hashes'] },
  'HuggingFaceH4/MATH-500': { ...PROBLEMS, difficulty: 'level' },
  'HuggingFaceH4/aime_2024': PROBLEMS,
  'agentica-org/DeepScaleR-Preview-Dataset': PROBLEMS,
  'open-r1/OpenR1-Math-220k': PROBLEMS,
  'BytedTsinghua-SIA/DAPO-Math-17k': { fields: { messages: 'prompt', answer: 'reward_model.ground_truth' } },
  'google-research-datasets/mbpp': { fields: { question: 'text', solution: 'code' } },
  'openai/openai_humaneval': { fields: { question: 'prompt', solution: 'canonical_solution' } },
};

/** Options that may lack some, or have them as undefined. */
type Asked = { readonly [Key in keyof Columns]?: Columns[Key] | undefined };

/** The options with the columns of a set that is known; what the user says goes before it. */
export function withColumns<T extends Asked>(options: T, text: string): T {
  const set = hubDataset(text);
  const said = Object.entries(options).filter(([, value]) => value !== undefined);
  return { ...(set && COLUMNS[set.repository]), ...Object.fromEntries(said) } as T;
}
