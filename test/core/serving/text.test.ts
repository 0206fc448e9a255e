import { describe, expect, test } from 'vitest';
import { growingText } from '../../../core/serving/growing-text.ts';
import { callStyle, parseCalls } from '../../../core/serving/tool-calls.ts';

describe('the text of a stream', () => {
  /** What is told after each state of the text, and at the end. */
  const told = (marks: readonly string[], states: readonly string[], whole: string) => {
    const text = growingText(marks);
    return [...states.map((state) => text.add(state)), text.end(whole)];
  };

  test('is told as it grows', () => {
    expect(told([], ['a', 'ab', 'ab', 'abc'], 'abc')).toEqual(['a', 'b', '', 'c', '']);
  });

  test('a character of several tokens is told when it is whole', () => {
    expect(told([], ['x', 'x\uFFFD', 'x\uFFFD\uFFFD', 'xä'], 'xä')).toEqual(['x', '', '', 'ä', '']);
  });

  test('an end that may become a stop string is held back, and told if it does not', () => {
    expect(told(['END'], ['aE', 'aEN', 'aENx'], 'aENx')).toEqual(['a', '', 'ENx', '']);
    expect(told(['END'], ['aE', 'aEN', 'aEND', 'aENDmore'], 'a')).toEqual(['a', '', '', '', '']);
  });

  test('what stays a part of a character is told at the end', () => {
    expect(told([], ['x\uFFFD'], 'x\uFFFD')).toEqual(['x', '\uFFFD']);
  });
});

describe('calls of tools', () => {
  test('between tags, with text beside them', () => {
    const text = 'Let me see.\n<tool_call>\n{"name": "add", "arguments": {"a": 1, "b": 2}}\n</tool_call>';
    expect(parseCalls(text, 'tags')).toEqual({
      text: 'Let me see.',
      calls: [{ name: 'add', arguments: '{"a":1,"b":2}' }],
    });
  });

  test('two of them, the last one cut off before its closing tag', () => {
    const text = '<tool_call>{"name":"f","arguments":{}}</tool_call><tool_call>{"name":"g","arguments":"{}"}';
    expect(parseCalls(text, 'tags').calls).toEqual([
      { name: 'f', arguments: '{}' },
      { name: 'g', arguments: '{}' },
    ]);
  });

  test('an answer that is one object', () => {
    expect(parseCalls(' {"name": "f", "parameters": {"x": 1}} ', 'json')).toEqual({
      text: '',
      calls: [{ name: 'f', arguments: '{"x":1}' }],
    });
  });

  test('what cannot be read stays text, whole', () => {
    for (const text of ['<tool_call>{"name": 5}</tool_call>', '<tool_call>{oops', 'no call'])
      expect(parseCalls(text, 'tags')).toEqual({ text, calls: [] });
    expect(parseCalls('{"answer": 5}', 'json')).toEqual({ text: '{"answer": 5}', calls: [] });
  });

  test('a prompt that names the tags teaches them', () => {
    expect(callStyle('… within <tool_call></tool_call> tags …')).toBe('tags');
    expect(callStyle('Respond with JSON')).toBe('json');
  });
});
