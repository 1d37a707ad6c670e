import { Controller, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import { ApiHeader, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AcceptsAnyObject, Answers, RefusesWith } from '../http/api-decorators.js';
import { exampleData } from '../events/events.dto.js';
import { AllowAccess } from '../users/access.guard.js';
import { messageHeaderPrefix } from './platform-message.external.js';
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
    ApiHeader({
      name: messageHeaderPrefix + name,
      description,
      required: true,
      schema: { type: 'string' },
      example,
    });
  const decorators = [
    HttpCode(204),
    ApiOperation({
      operationId,
      summary,
      description:
        'For the platform: every message is signed with PLATFORM_WEBHOOK_SECRET, so no token is needed.',
    }),
    header(
      'Id',
      'The message: the same id again is the same message',
      'f8a34c0f-53b5-4f1d-9d6f-0c8d1f3c2b10',
    ),
    header('Timestamp', 'RFC 3339; within ten minutes of now', '2026-11-21T07:30:00.123456789Z'),
    header('Signature', '`sha256=` and the HMAC over id, timestamp and body', exampleSignature),
    header('Type', 'notification, webhook_callback_verification or revocation', 'notification'),
    AcceptsAnyObject('The message, as the platform sends it', exampleMessage),
    Answers(200, 'The challenge of a verification, as plain text', {
      example: 'pogchamp-kappa-360noscope-vohiyo',
    }),
    Answers(204, 'Stored, or known already, or safely waiting to be stored'),
    RefusesWith({
      invalid: 'The message makes no sense, or is about another type than the path',
      forbidden: 'The signature is wrong, or the timestamp is not of the last ten minutes',
      too_large: 'The body is over 256 KiB',
      unsupported_media_type: 'The body is not application/json',
      unavailable: 'The message could not be stored: send it again',
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
  @DescribesWebhook('receivePlatformMessage', 'The platform’s webhook callback')
  async receive(@Req() request: RawRequest, @Res() reply: FastifyReply): Promise<void> {
    await this.answer(request, reply, undefined);
  }

  @Post(':event_type/webhook')
  @ApiParam({
    name: 'event_type',
    description: 'Only messages about this type are taken',
    example: 'stream-offline',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  })
  @DescribesWebhook('receivePlatformMessageOfType', 'The platform’s webhook callback for one event type')
  async receiveType(
    @Param('event_type') eventType: string,
    @Req() request: RawRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await this.answer(request, reply, eventType);
  }

  private async answer(
    request: RawRequest,
    reply: FastifyReply,
    pathType: string | undefined,
  ): Promise<void> {
    const answer = await this.webhook.receive({
      headers: request.headers,
      body: request.body ?? Buffer.alloc(0),
      pathType,
    });
    // The challenge must come back bare: as JSON it would be quoted, and the platform would refuse it.
    if (answer.status === 200) await reply.code(200).type('text/plain').send(answer.body);
    else await reply.code(204).send();
  }
}
