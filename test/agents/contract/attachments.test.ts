import { describe, expect, it } from 'vitest';
import { MessageAttachment } from '../../../src/agents/contract/attachments.ts';

const read = (filename: string) =>
  MessageAttachment.parse({
    type: 'file',
    filename,
    mediaType: 'text/plain',
    source: { type: 'data_url', dataUrl: 'data:text/plain;base64,aGk=' },
  }).filename;

describe('the name of an attachment', () => {
  it.each([
    ['report.txt', 'report.txt'],
    ['../../etc/passwd', 'passwd'],
    [String.raw`C:\temp\notes.txt`, 'notes.txt'],
    ['e\u202Egnp.exe', 'egnp.exe'],
    ['a\nb]\u0007.txt', 'ab.txt'],
    ['..', 'file'],
    ['/', 'file'],
    ['Übersicht 报告.txt', 'Übersicht 报告.txt'],
  ])('%j is shown as %j', (given, shown) => {
    expect(read(given)).toBe(shown);
  });
});
