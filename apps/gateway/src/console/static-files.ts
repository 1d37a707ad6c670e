import fastifyStatic from '@fastify/static';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';

/** Lets replies send files, in the compressed form beside them that the client accepts. */
export async function enableStaticFiles(app: NestFastifyApplication): Promise<void> {
  await app.register(fastifyStatic, { serve: false, preCompressed: true });
}
