import type {} from '@fastify/static';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';

/** Enables `reply.sendFile`. Sends the compressed copy of a file if one exists and the client accepts its encoding. */
export async function enableStaticFiles(app: NestFastifyApplication): Promise<void> {
  // Import the package here: Jest cannot load it on Node 20, and unit tests import the gateway's modules without starting the gateway.
  const { default: fastifyStatic } = await import('@fastify/static');
  await app.register(fastifyStatic, { serve: false, preCompressed: true });
}
