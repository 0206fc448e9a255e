/** `npx rollmesh policy`: imports, exports, lists, runs and withdraws versions of policies. stdout carries only the result. */
import { Command } from 'commander';
import { calledAs } from '../called-as.ts';
import { addEval, addGenerate, addScore, addSolve } from './model-commands.ts';
import { addCheck, addReceipt } from './receipt-commands.ts';
import { addLeague } from './recipe-commands.ts';
import { addExport, addImport, addList, addPrune, addPush, addRollback } from './store-commands.ts';

export function command(): Command {
  const command = new Command(calledAs('policy')).description(
    'The versions of policies: imported, exported, published, listed, evaluated, compared in games, searched, scored, sampled from, checked, rolled back, pruned.',
  );
  for (const add of [
    addImport,
    addExport,
    addPush,
    addList,
    addEval,
    addLeague,
    addSolve,
    addScore,
    addGenerate,
    addReceipt,
    addCheck,
    addRollback,
    addPrune,
  ])
    add(command);

  // It is no failure if a reader such as `head` closes the pipe early.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    throw error;
  });
  return command;
}
