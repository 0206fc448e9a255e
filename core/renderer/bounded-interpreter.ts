/**
 * Runs a chat template within bounds. A Worker cannot interrupt a template, and memory that a single step asks for ends its isolate, so
 * what is run is counted, and a step that would make a text out of measure is refused before it is taken.
 */
import { Interpreter } from '@huggingface/jinja';

type Evaluate = Interpreter['evaluate'];
type Scope = Parameters<Evaluate>[1];
type Value = ReturnType<Evaluate>;
type Node = NonNullable<Parameters<Evaluate>[0]>;

/**
 * What a template may cost in all: one for each expression and statement that is run, one for each element of a list and one for sixteen
 * characters of a text that comes of it. A long conversation with tools costs some ten thousands.
 */
const MOST_COST = 300_000;

/** The most characters and elements that a value may hold, whatever it is nested in: a list that holds itself twice doubles without writing a text. */
const MOST_SIZE = 2 ** 22;

/**
 * The most that a step may make of a text by its arguments: the size of the text times the largest argument. `replace` puts its second argument
 * at every character, `join` its separator between all elements, `indent` as many spaces before every line.
 */
const MOST_GROWTH = 2 ** 24;

/** A part of an expression that is evaluated already. */
class Known {
  readonly type = 'Known';
  readonly value: Value;

  constructor(value: Value) {
    this.value = value;
  }
}

const known = (value: Value) => new Known(value) as unknown as Node;

/** The parts of the nodes that are looked into. */
interface Parts {
  readonly operand: Node;
  readonly filter: { readonly type: string; readonly args?: readonly Node[] };
  readonly body: readonly Node[];
  readonly object: Node;
  readonly value: Node;
  readonly argument: Node;
}

const copy = (node: object, changed: object): Node =>
  Object.assign(Object.create(Object.getPrototypeOf(node)), node, changed) as Node;

export class BoundedInterpreter extends Interpreter {
  #cost = 0;
  readonly #sizes = new WeakMap<object, number>();

  override evaluate(statement: Node | undefined, environment: Scope): Value {
    if (statement instanceof Known) return statement.value;
    const result = this.#step(statement, environment);
    const { value } = result as { readonly value: unknown };
    this.#cost +=
      1 + (Array.isArray(value) ? value.length : typeof value === 'string' ? value.length >> 4 : 0);
    if (this.#cost > MOST_COST) throw new Error('it runs too long');
    if (this.#sizeOf(result) > MOST_SIZE) throw new Error('it makes a value without measure');
    return result;
  }

  /** Evaluates the parts of a step that may make a text grow, looks at their sizes, and only then takes it. */
  #step(statement: Node | undefined, environment: Scope): Value {
    const parts = statement as unknown as Parts;
    switch (statement?.type) {
      case 'FilterStatement': {
        const operand = super.evaluate(copy({ type: 'Program' }, { body: parts.body }), environment);
        const filter = this.#filter(operand, parts.filter, environment);
        return super.evaluate(
          copy({ type: 'FilterExpression' }, { operand: known(operand), filter }),
          environment,
        );
      }
      case 'FilterExpression': {
        const operand = this.evaluate(parts.operand, environment);
        const filter = this.#filter(operand, parts.filter, environment);
        return super.evaluate(copy(statement, { operand: known(operand), filter }), environment);
      }
      case 'MemberExpression': {
        const object = this.evaluate(parts.object, environment);
        const member = super.evaluate(copy(statement, { object: known(object) }), environment);
        return object.type === 'StringValue' && member.type === 'FunctionValue'
          ? this.#guarded(object, member)
          : member;
      }
      default:
        return super.evaluate(statement, environment);
    }
  }

  /** The filter with its arguments evaluated. Throws where they would make too much of the operand. */
  #filter(operand: Value, filter: Parts['filter'], environment: Scope): object {
    if (!filter.args) return filter;
    const values: Value[] = [];
    const evaluated = (node: Node) => {
      const value = this.evaluate(node, environment);
      values.push(value);
      // Some filters, such as selectattr, want a text that stands in the template to be one.
      return node.type === 'StringLiteral' ? node : known(value);
    };
    const args = filter.args.map((node) => {
      const { value, argument } = node as unknown as Partial<Parts>;
      if (node.type === 'KeywordArgumentExpression') return copy(node, { value: evaluated(value!) });
      if (/Spread/.test(node.type)) return copy(node, { argument: evaluated(argument!) });
      return evaluated(node);
    });
    this.#expectGrowth(operand, values);
    return copy(filter, { args });
  }

  /** A method of a text, such as `replace`. */
  #guarded(text: Value, method: Value): Value {
    const { value: call } = method as { readonly value: (args: Value[], scope: Scope) => Value };
    const guarded = (args: Value[], scope: Scope) => {
      this.#expectGrowth(text, args);
      return call(args, scope);
    };
    return copy(method, { value: guarded }) as unknown as Value;
  }

  #expectGrowth(operand: Value, args: readonly Value[]): void {
    const largest = Math.max(1, ...args.map((value) => this.#measure(value)));
    if (this.#sizeOf(operand) * largest > MOST_GROWTH) throw new Error('it makes a text without measure');
  }

  /** An argument's size; of a number, which may be a width, the number itself. */
  #measure(argument: Value): number {
    const { value } = argument as { readonly value: unknown };
    if (typeof value === 'number') return Math.abs(value);
    if (!(value instanceof Map)) return this.#sizeOf(argument);
    return Math.max(1, ...[...value.values()].map((each: Value) => this.#measure(each)));
  }

  /** Characters and elements in all. Lists and mappings never change, so each is measured once. */
  #sizeOf(measured: Value): number {
    const { value } = measured as { readonly value: unknown };
    if (typeof value === 'string') return value.length + 1;
    const parts: readonly Value[] | undefined = Array.isArray(value)
      ? value
      : value instanceof Map && measured.type !== 'NamespaceValue'
        ? [...value.values()]
        : undefined;
    if (!parts) return 1;
    const before = this.#sizes.get(measured);
    if (before !== undefined) return before;
    // A value that holds itself, should there be one, is not followed for ever.
    this.#sizes.set(measured, 1);
    const size = parts.reduce((sum, part) => sum + this.#sizeOf(part), 1);
    this.#sizes.set(measured, size);
    return size;
  }
}
