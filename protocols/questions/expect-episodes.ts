/** What settings of episodes need of a run on questions. */
import { wrongInput } from '../../core/errors.ts';
import type { HeldOutSamples } from '../evaluate/temperatures.ts';
import type { HeldOutEpisodes } from '../held-out-episodes.ts';
import type { ToolName } from './tools.ts';

/** Throws `run.setting` where a setting means nothing for a run. */
export function expectEpisodes({
  agent,
  tools,
  settings: { heldOutEpisodes, heldOutSamples, toolTurns },
}: {
  readonly agent?: boolean | undefined;
  readonly tools?: readonly ToolName[] | undefined;
  readonly settings: {
    readonly heldOutEpisodes?: HeldOutEpisodes;
    readonly heldOutSamples?: HeldOutSamples;
    readonly toolTurns?: number;
  };
}): void {
  if (heldOutEpisodes && !agent)
    throw wrongInput(
      'run.setting',
      'heldOutEpisodes means nothing here: the mesh asks its questions itself.',
      {
        expected: 'a run with --agent or --environment',
        next: 'Leave --set heldOutEpisodes out: held-out questions are asked anyway.',
      },
    );
  if (heldOutSamples && tools)
    throw wrongInput('run.setting', 'heldOutSamples is not computed for a policy with tools.', {
      expected: 'a run without --tools',
      next: 'Leave --set heldOutSamples out: one episode of each held-out question is measured.',
    });
  if (toolTurns !== undefined && !tools)
    throw wrongInput('run.setting', `toolTurns=${toolTurns} means nothing here: the policy has no tools.`, {
      expected: 'a run with --tools',
      next: 'Leave --set toolTurns out.',
    });
}
