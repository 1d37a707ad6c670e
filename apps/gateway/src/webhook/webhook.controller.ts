import { Controller, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import { ApiHeader, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { RouteConfig } from '@nestjs/platform-fastify';
import { inbound } from '@stream-events/platforms';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AllowAccess } from '../access/allow-access.decorator.js';
import { AcceptsAnyObject, Answers, RefusesWith } from '../http/api-decorators.js';
import { exampleData } from '../events/events.dto.js';
import { WebhookService } from './webhook.service.js';

type RawRequest = FastifyRequest<{ Body: Buffer | undefined }>;

const exampleSignature = 'sha256=c2b1f4a1d0a4f1a1f9bb0f3f5d3c2f6d4a86e0b4f1c3e7a9b8d7c6e5f4a3b2c1';

const exampleMessage = {
  subscription: {
    id: '3b7a1f0c-11aa-4f1d-9d6f-0c8d1f3c2b10',
    status: 'enabled',
    type: 'stream.offline',
    version: '1',
    cost: 0,
    condition: { broadcaster_user_id: exampleData.broadcaster_user_id },
    transport: { method: 'webhook', callback: 'https://events.example.org/api/v1/platform-events/webhook' },
    created_at: '2026-11-21T07:00:00.123456789Z',
  },
  event: exampleData,
};

function DescribesWebhook(operationId: string, summary: string): MethodDecorator {
  const header = (name: string, description: string, example: string) =>
    ApiHeader({ name, description, required: true, schema: { type: 'string' }, example });
  const { messageId, timestamp, signature, type } = inbound.headerNames;
  const decorators = [
    HttpCode(204),
    RouteConfig({ receivesMessages: true }),
    ApiOperation({
      operationId,
      summary,
      description:
        'For the platform, not for clients. The platform signs every message with a secret from PLATFORM_WEBHOOK_SECRET, so the request needs no token.',
    }),
    header(
      messageId,
      'Id of the message. The service stores each id only once',
      'f8a34c0f-53b5-4f1d-9d6f-0c8d1f3c2b10',
    ),
    header(timestamp, 'RFC 3339 time within 10 minutes of now', '2026-11-21T07:30:00.123456789Z'),
    header(
      signature,
      '`sha256=` and the HMAC-SHA256 over message id, timestamp, and raw body, in lower-case hexadecimal',
      exampleSignature,
    ),
    header(type, '`notification`, `webhook_callback_verification`, or `revocation`', 'notification'),
    AcceptsAnyObject('The message, as the platform sends it', exampleMessage),
    Answers(200, 'The challenge of a verification, as plain text', {
      example: 'pogchamp-kappa-360noscope-vohiyo',
    }),
    Answers(
      204,
      'The event is stored, was stored before, is queued on the INGEST stream, or became a dead letter. Also for messages of an unknown type, which the service ignores',
    ),
    RefusesWith({
      invalid: 'The message is malformed, or its event type differs from the one in the path',
      forbidden: 'The signature is wrong, or the timestamp is not within 10 minutes of now',
      request_timeout: 'The body did not arrive within 2 seconds',
      too_large: 'The body is larger than 256 KiB',
      unsupported_media_type: 'The body is not application/json',
      unavailable: 'The event could not be stored. Send the message again',
    }),
  ];
  return (target, key, descriptor) => {
    for (const decorate of decorators) decorate(target as object, key, descriptor);
  };
}

@ApiTags('Platform')
@AllowAccess('public')
@Controller('api/v1/platform-events')
export class WebhookController {
  constructor(private readonly webhook: WebhookService) {}

  @Post('webhook')
  @DescribesWebhook('receivePlatformMessage', 'Receive a platform message')
  async receive(@Req() request: RawRequest, @Res() reply: FastifyReply): Promise<void> {
    await this.respond(request, reply, {});
  }

  @Post('webhook/keys/:fingerprint')
  @ApiParam({
    name: 'fingerprint',
    description:
      'The fingerprint of the secret that signs the messages to this callback. The callback accepts no other secret',
    example: 'f0c1d2e3',
    schema: { type: 'string' },
  })
  @DescribesWebhook(
    'receivePlatformMessageOfSecret',
    'Receive a platform message that is signed with one webhook secret',
  )
  async receiveOfSecret(
    @Param('fingerprint') fingerprint: string,
    @Req() request: RawRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await this.respond(request, reply, { fingerprint });
  }

  @Post(':event_type/webhook')
  @ApiParam({
    name: 'event_type',
    description: 'Accepts only messages of this event type',
    example: 'stream-offline',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  })
  @DescribesWebhook('receivePlatformMessageOfType', 'Receive a platform message of one event type')
  async receiveType(
    @Param('event_type') eventType: string,
    @Req() request: RawRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await this.respond(request, reply, { pathType: eventType });
  }

  private async respond(
    request: RawRequest,
    reply: FastifyReply,
    { pathType, fingerprint = '' }: { pathType?: string; fingerprint?: string },
  ): Promise<void> {
    const response = await this.webhook.receive({
      headers: request.headers,
      body: request.body ?? Buffer.alloc(0),
      requestId: request.id,
      pathType,
      fingerprint,
    });
    // Reply with plain text. JSON would put the challenge in quotes, and the platform would reject it.
    if (response.status === 200) await reply.code(200).type('text/plain').send(response.body);
    else await reply.code(204).send();
  }
}
