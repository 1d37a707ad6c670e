import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventBody, eventsPath, uniqueType } from '../e2e/api.js';
import { startLimitMs, startStack, type Stack } from '../e2e/stack.js';
import { PeerFolder } from './peer-folder.js';

// Test limit, for the download of packages and a build.
const limitMs = 300_000;

const webSocketInPython = `
import asyncio, json, os
from websockets.asyncio.client import connect

async def main():
    headers = {"Authorization": "Token " + os.environ["TOKEN"]}
    async with connect(os.environ["URL"], additional_headers=headers) as socket:
        while True:
            message = json.loads(await asyncio.wait_for(socket.recv(), 60))
            if message.get("event_type") == os.environ["TYPE"]:
                print(message["id"])
                return

asyncio.run(main())
`;

const consumerInPython = `
import asyncio, json, os
import nats
from nats.js.api import ConsumerConfig

async def main():
    connection = await nats.connect(os.environ["URL"], user="subscriber", password=os.environ["PASSWORD"],
                                    inbox_prefix=b"_INBOX_subscriber")
    config = ConsumerConfig(inactive_threshold=60)
    consumer = await connection.jetstream().pull_subscribe("events.platform." + os.environ["TYPE"] + ".>",
                                                           durable="python", stream="EVENTS", config=config)
    [message] = await consumer.fetch(1, timeout=60)
    await message.ack_sync()
    print(message.headers["Nats-Msg-Id"])
    await connection.close()

asyncio.run(main())
`;

const consumerInGo = `
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return value
}

func main() {
	connection := must(nats.Connect(os.Getenv("URL"), nats.UserInfo("subscriber", os.Getenv("PASSWORD")),
		nats.CustomInboxPrefix("_INBOX_subscriber")))
	defer connection.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	stream := must(must(jetstream.New(connection)).Stream(ctx, "EVENTS"))
	consumer := must(stream.CreateConsumer(ctx, jetstream.ConsumerConfig{
		Durable:           "go",
		FilterSubject:     "events.platform." + os.Getenv("TYPE") + ".>",
		InactiveThreshold: time.Minute,
	}))
	message := must(consumer.Next(jetstream.FetchMaxWait(time.Minute)))
	must(0, message.DoubleAck(ctx))
	fmt.Println(message.Headers().Get("Nats-Msg-Id"))
}
`;

const hasGo = spawnSync('go', ['version']).status === 0;
const hasPython = spawnSync('python3', ['-c', 'import ensurepip']).status === 0;
const withGo = hasGo ? it : it.skip;
const withPython = hasPython ? it : it.skip;

describe('a client of another language', () => {
  let stack: Stack;
  let folder: PeerFolder;

  beforeAll(async () => {
    stack = await startStack({ gateways: 1, events: 1 });
    folder = await PeerFolder.create();
    if (!hasPython) return;
    await folder.run('python3', ['-m', 'venv', 'venv']);
    await folder.run('venv/bin/pip', ['install', '--quiet', 'websockets==17.4', 'nats-py==2.16.0']);
  }, limitMs + startLimitMs);

  afterAll(async () => {
    await folder.remove();
    await stack.stop();
  });

  const store = async (type: string): Promise<string> => {
    const body = eventBody({ event_type: type, event_data: { broadcaster_user_id: '4711' } });
    const { json } = await stack.request<{ id: string }>('POST', eventsPath, { body });
    return json.id;
  };
  const onNats = (type: string) => {
    const { host, password } = new URL(stack.nats.urlFor('subscriber'));
    return { URL: `nats://${host}`, PASSWORD: password, TYPE: type };
  };
  const python = async (program: string, environment: Record<string, string>): Promise<string> => {
    await writeFile(join(folder.path, 'program.py'), program);
    return (await folder.run('venv/bin/python', ['program.py'], environment)).trim();
  };

  withPython(
    'receives live events with websockets for Python (skipped where python3 has no venv)',
    async () => {
      const type = uniqueType();
      const URL = `${stack.url.replace(/^http/, 'ws')}/ws/platform-events`;
      const received = python(webSocketInPython, { URL, TOKEN: stack.ownerToken, TYPE: type });
      const sending = setInterval(() => void store(type), 500);
      expect(await received.finally(() => clearInterval(sending))).toMatch(/^[0-9a-f-]{36}$/);
    },
    limitMs,
  );

  withPython(
    'reads the EVENTS stream with nats-py (skipped where python3 has no venv)',
    async () => {
      const type = uniqueType();
      const id = await store(type);
      expect(await python(consumerInPython, onNats(type))).toBe(id);
    },
    limitMs,
  );

  withGo(
    'reads the EVENTS stream with nats.go (skipped where go is missing)',
    async () => {
      const type = uniqueType();
      const id = await store(type);
      await writeFile(join(folder.path, 'main.go'), consumerInGo);
      await folder.run('go', ['mod', 'init', 'peer']);
      await folder.run('go', ['get', 'github.com/nats-io/nats.go@v1.55.0']);
      expect((await folder.run('go', ['run', '.'], onNats(type))).trim()).toBe(id);
    },
    limitMs,
  );
});
