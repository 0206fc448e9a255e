/** The order of test files: those that take longest begin first, so that none of them is left to run alone at the end. */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take over twenty seconds on two quiet cores, longest first. A file that is missing here costs time and nothing else. */
const LONG = [
  'trust/kill-every-stage',
  'mesh/every-recipe',
  'browser/every-recipe',
  'trust/kill',
  'mesh/task-files',
  'mesh/agents',
  'mesh/loop',
  'trust/paused-and-repeated',
  'cli/start-command',
  'cli/readme',
  'mesh/question-recipes',
  'mesh/deploy-dry-run',
  'cli/my-first-own-run',
  'cli/two-starts',
  'nodes/nodes',
  'nodes/mixed',
  'cli/policy/policy',
  'learner/unreadable-version',
  'mesh/cpu-budget',
  'mesh/rounds',
  'mesh/restart',
  'browser/page',
  'mesh/gateway',
  'trust/audit-mesh',
  'mesh/model-endpoints',
];

const rank = ({ moduleId }: TestSpecification): number => {
  const at = LONG.findIndex((file) => moduleId.endsWith(`/test/${file}.test.ts`));
  return at < 0 ? LONG.length : at;
};

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // The base order is kept among the others: by the time that they took before, where that is known.
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}
