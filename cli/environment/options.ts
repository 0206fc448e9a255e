/** What a command says of the episodes in an environment: options of `environment play` and of `start --environment`. */
import { Option } from 'commander';
import { MOST_CALLS, USUAL_TURNS } from '../../core/schema/agent.ts';
import { readSecrets } from '../../local/mesh/secrets.ts';
import { most, type StartOptions } from '../shared/run-options.ts';

/** Without a default, which says whether it was given. */
export const turnsOption = (flags: string): Option =>
  new Option(flags, 'answers of the policy in an episode at most').argParser(most(MOST_CALLS));

export const answerToolOption = (): Option =>
  new Option(
    '--answer-tool <name>',
    'the tool whose one argument is the whole answer, for policies that know no tools',
  );

/** The environment's key: in a variable or in .dev.vars, so that no list of processes shows it. */
export const environmentKey = (): string | undefined =>
  process.env.ORS_API_KEY || readSecrets('.').ORS_API_KEY || undefined;

/** The variables of a local mesh by which a Worker of it plays an environment; none where no environment is named. */
export const environmentVars = ({
  environment,
  environmentTurns = USUAL_TURNS,
  answerTool = '',
}: Pick<StartOptions, 'environment' | 'environmentTurns' | 'answerTool'>): Readonly<
  Record<string, string>
> =>
  environment === undefined
    ? {}
    : {
        ENVIRONMENT_URL: environment,
        ENVIRONMENT_TURNS: String(environmentTurns),
        ENVIRONMENT_ANSWER_TOOL: answerTool,
      };
