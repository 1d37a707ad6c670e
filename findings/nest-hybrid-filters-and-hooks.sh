#!/usr/bin/env bash
# In a hybrid NestJS application, a filter on the microservice has no effect; with deferred initialization it works, but hooks run twice.
#
# Versions:    @nestjs/common and @nestjs/core 12.5.1, @nestjs/microservices 12.1.1 (npm).
# Input:       an application with one provider that counts `onApplicationBootstrap`, and one TCP handler that throws. The filter is added with
#              `connectMicroservice(…).useGlobalFilters(…)`, once as it is, and once with `deferInitialization: true`, the option for configuring
#              a microservice after `connectMicroservice` (https://github.com/nestjs/nest/pull/15203).
# Expectation: the filter answers the request in both cases, or the first one is an error; the bootstrap hook runs once.
# Behavior:    as it is, Nest logs a warning and the filter is never called. With `deferInitialization`, the filter is called, but the bootstrap
#              hook of the application's own providers runs twice: the microservice runs it when it starts, and the application again.
# Output seen: plain: reply Internal server error, bootstraps 1
#              deferred: reply from the filter, bootstraps 2
# Consequence: timers and consumers that start in `onApplicationBootstrap` start twice. `setIsInitHookCalled(true)` on the microservice,
#              before it starts, prevents this.
#
# Needs Node.js 20 and npm. Fails if the behavior changes.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error @nestjs/common@12.5.1 @nestjs/core@12.5.1 @nestjs/microservices@12.1.1 \
  @nestjs/platform-fastify@12.5.0 reflect-metadata@0.2.2 rxjs@7.8.2 >/dev/null
cat >hybrid.mjs <<'JS'
import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ClientProxyFactory, MessagePattern, Transport } from '@nestjs/microservices';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { firstValueFrom, throwError } from 'rxjs';
import { Controller } from '@nestjs/common';

let bootstraps = 0;
class Counting {
  onApplicationBootstrap() {
    bootstraps += 1;
  }
}
class Failing {
  fail() {
    throw new Error('from the handler');
  }
}
Controller()(Failing);
MessagePattern('fail')(Failing.prototype, 'fail', Object.getOwnPropertyDescriptor(Failing.prototype, 'fail'));
class Root {}
Module({ controllers: [Failing], providers: [Counting] })(Root);

for (const [name, options] of [['plain', {}], ['deferred', { deferInitialization: true }]]) {
  bootstraps = 0;
  const app = await NestFactory.create(Root, new FastifyAdapter(), { logger: false });
  const transport = { transport: Transport.TCP, options: { host: '127.0.0.1', port: 30461 } };
  const filter = { catch: () => throwError(() => ({ message: 'from the filter' })) };
  app.connectMicroservice(transport, options).useGlobalFilters(filter);
  await app.startAllMicroservices();
  await app.listen(0, '127.0.0.1');
  const client = ClientProxyFactory.create(transport);
  const reply = await firstValueFrom(client.send('fail', {})).catch((error) => error);
  console.log(`${name}: reply ${reply.message}, bootstraps ${bootstraps}`);
  client.close();
  await app.close();
}
JS
output=$(node hybrid.mjs)
echo "$output"
[ "$output" = 'plain: reply Internal server error, bootstraps 1
deferred: reply from the filter, bootstraps 2' ] || { echo 'The behavior has changed.' >&2; exit 1; }
