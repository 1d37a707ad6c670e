import { dockerAddresses } from './server-source.js';

describe(dockerAddresses.name, () => {
  it.each([
    ['unix:///run/user/1000/docker.sock', [{ socketPath: '/run/user/1000/docker.sock' }]],
    ['tcp://10.0.0.5:2375', [{ host: '10.0.0.5', port: 2375 }]],
    ['tcp://10.0.0.5', [{ host: '10.0.0.5', port: 2375 }]],
    ['ssh://user@host', []],
  ])('uses only DOCKER_HOST when it is %s', (given, expected) => {
    expect(dockerAddresses({ DOCKER_HOST: given, XDG_RUNTIME_DIR: '/run/user/1' })).toEqual(expected);
  });

  it('returns the usual sockets when DOCKER_HOST is not set', () => {
    const addresses = dockerAddresses({ XDG_RUNTIME_DIR: '/run/user/1000' });

    expect(addresses).toContainEqual({ socketPath: '/var/run/docker.sock' });
    expect(addresses).toContainEqual({ socketPath: '/run/user/1000/docker.sock' });
  });
});
