import { describeSystem, isCommandOf, parseProcess } from './operating-system.js';

const windows = describeSystem('win32', { SystemRoot: 'D:\\Windows' });
const macOs = describeSystem('darwin', {});
const linux = describeSystem('linux', {});

describe(describeSystem.name, () => {
  it('names programs and folders as the system does', () => {
    expect(windows).toMatchObject({ rootFolder: 'D:\\', programSuffix: '.exe' });
    expect(macOs).toMatchObject({ rootFolder: '/', programSuffix: '' });
  });

  it('works without the variables of Windows', () => {
    expect(describeSystem('win32', {})).toMatchObject({ rootFolder: 'C:\\' });
  });

  it('uses neither signals nor folders as files on Windows', () => {
    expect(windows).toMatchObject({
      hasSignals: false,
      canFlushFolders: false,
      inheritsLogFiles: false,
      startsPostgresThroughControl: true,
    });
    for (const system of [linux, macOs])
      expect(system).toMatchObject({ hasSignals: true, startsPostgresThroughControl: false });
  });

  it('keeps the variables without which programs of Windows open no socket', () => {
    expect(windows.programVariables).toEqual(expect.arrayContaining(['SystemRoot', 'SystemDrive', 'TEMP']));
    expect(linux.programVariables).not.toContain('SystemRoot');
  });

  it('asks PowerShell of this Windows, by its full path', () => {
    const { command, argumentsFor } = windows.processTool;
    expect(command).toBe('D:\\Windows\\System32\\WindowsPowerShell\\v1.0\\powershell.exe');
    expect(argumentsFor(42).at(-1)).toContain("'ProcessId = 42'");
  });
});

describe(parseProcess.name, () => {
  it.each([
    ['of Linux', linux, 'Tue Nov 24 14:02:35 2026 /usr/sbin/nats-server --config /a b/c\n'],
    [
      'of macOS, which fills columns',
      macOs,
      'Tue Nov  4 14:02:35 2026     /usr/sbin/nats-server --config /a b/c  \n',
    ],
  ])('reads the output of ps %s', (_, system, printed) => {
    expect(parseProcess(printed, system)).toEqual({
      startedAt: expect.stringMatching(/^Tue Nov +\d+ 14:02:35 2026$/) as string,
      commandLine: '/usr/sbin/nats-server --config /a b/c',
    });
  });

  it('reads the output of PowerShell', () => {
    expect(parseProcess('134086213551234567\r\n"C:\\a b\\x.exe" -D C:\\c\r\n', windows)).toEqual({
      startedAt: '134086213551234567',
      commandLine: '"C:\\a b\\x.exe" -D C:\\c',
    });
  });

  it.each([
    ['ps', linux],
    ['PowerShell', windows],
  ])('finds no process when %s prints nothing', (_, system) => {
    expect(parseProcess('\r\n', system)).toBeUndefined();
  });
});

describe(isCommandOf.name, () => {
  const data = 'C:\\Users\\Ada Lovelace\\data';
  const ours = { program: 'postgres', argument: data };

  it.each([
    ['as Node starts it', `"C:\\bin\\postgres.exe" -D "${data}" -c port=1`],
    ['as pg_ctl starts it', '"C:/bin/postgres.exe" -D "c:/users/Ada Lovelace/DATA" "-c" "port=1"'],
  ])('recognizes a server of Windows %s', (_, line) => {
    expect(isCommandOf(line, ours, windows)).toBe(true);
  });

  it.each([
    ['another program', `"C:\\bin\\psql.exe" -D "${data}"`],
    ['another folder', `"C:\\bin\\postgres.exe" -D "${data}2"`],
    ['a program whose name ends alike', `"C:\\bin\\notpostgres.exe" -D "${data}"`],
  ])('does not mistake %s for a server of Windows', (_, line) => {
    expect(isCommandOf(line, ours, windows)).toBe(false);
  });

  it('recognizes a server of macOS, and distinguishes case', () => {
    const server = { program: 'nats-server', argument: '/Users/ada/a b/nats-server.conf' };
    const line = '/opt/homebrew/bin/nats-server --config /Users/ada/a b/nats-server.conf';
    expect(isCommandOf(line, server, macOs)).toBe(true);
    expect(isCommandOf(line.toUpperCase(), server, macOs)).toBe(false);
  });
});
