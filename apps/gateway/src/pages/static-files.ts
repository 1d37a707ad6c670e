import type {} from '@fastify/static';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';

/** Enables `reply.sendFile`. If a file has a compressed copy and the client accepts its encoding, sends the copy. */
export async function enableStaticFiles(app: NestFastifyApplication): Promise<void> {
  // The package is imported here, because Jest cannot load it on Node 20, and unit tests import the gateway without starting it.
  const { default: fastifyStatic } = await import('@fastify/static');
  await app.register(fastifyStatic, { serve: false, preCompressed: true });
}
