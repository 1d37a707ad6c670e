import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { choosePort } from './choose-port.js';

describe(choosePort.name, () => {
  it('takes another port than a used one, unless somebody has asked for this port', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port: wanted } = server.address() as AddressInfo; // Safe cast: the server listens on a port.
    const said: string[] = [];
    const choice = { wanted, purpose: 'the gateway', say: (line: string) => void said.push(line) };

    const chosen = await choosePort({ ...choice, isFixed: false });
    expect(chosen).not.toBe(wanted);
    expect(said).toEqual([
      `Port ${wanted} is in use or not permitted: the gateway listens on port ${chosen}`,
    ]);
    await expect(choosePort({ ...choice, isFixed: true })).rejects.toThrow(
      `port ${wanted} (PORT) is in use or not permitted`,
    );
    server.close();
  });
});
