/**
 * Rewrites a script so that every call of one of its functions and every turn of one of its loops takes a step, which may refuse. A
 * script that never ends is then ended after the same step on every machine, in a Worker and in Node alike, where a limit of time would
 * end it somewhere else each time. What runs inside one built-in function, such as a regular expression, is a single step.
 */
import { type Node, parse } from 'acorn';
import { full } from 'acorn-walk';

/** The name of the function that the rewritten script calls. */
export const STEP = '__rollmesh_step';

interface Insertion {
  readonly at: number;
  readonly text: string;
}

interface Statement extends Node {
  readonly body: Node;
}

/** Puts a step at the beginning of a loop's or a function's body. */
function stepInto(body: Node, isExpression: boolean): Insertion[] {
  if (body.type === 'BlockStatement') return [{ at: body.start + 1, text: `${STEP}();` }];
  const [open, close] = isExpression ? [`(${STEP}(),`, ')'] : [`{${STEP}();`, '}'];
  return [
    { at: body.start, text: open },
    { at: body.end, text: close },
  ];
}

const LOOPS = new Set([
  'WhileStatement',
  'DoWhileStatement',
  'ForStatement',
  'ForInStatement',
  'ForOfStatement',
]);
const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']);

/** @throws SyntaxError where the text is no script. */
export function countSteps(script: string): string {
  const insertions: Insertion[] = [];
  full(parse(script, { ecmaVersion: 'latest', sourceType: 'script' }), (node) => {
    if (LOOPS.has(node.type)) insertions.push(...stepInto((node as Statement).body, false));
    if (FUNCTIONS.has(node.type)) insertions.push(...stepInto((node as Statement).body, true));
  });
  // At one place, what closes an inner body comes before what closes the outer one: `full` visits inner nodes first.
  const sorted = insertions
    .map((one, order) => ({ ...one, order }))
    .sort((a, b) => a.at - b.at || a.order - b.order);
  let rewritten = '';
  let from = 0;
  for (const { at, text } of sorted) {
    rewritten += script.slice(from, at) + text;
    from = at;
  }
  return rewritten + script.slice(from);
}
