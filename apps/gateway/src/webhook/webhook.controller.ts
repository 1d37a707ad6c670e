import { Controller, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import { ApiHeader, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AcceptsAnyObject, Answers, RefusesWith } from '../api-description/api-decorators.js';
import { AllowAccess } from '../users/access.guard.js';
import { WebhookService } from './webhook.service.js';

type RawRequest = FastifyRequest<{ Body: Buffer | undefined }>;

function DescribesWebhook(summary: string): MethodDecorator {
  const header = (name: string, description: string) =>
    ApiHeader({
      name: `Twitch-Eventsub-Message-${name}`,
      description,
      required: true,
      schema: { type: 'string' },
    });
  const decorators = [
    HttpCode(204),
    ApiOperation({
      summary,
      description:
        'For the platform: every message is signed with PLATFORM_WEBHOOK_SECRET, so no token is needed.',
    }),
    header('Id', 'The message: the same id again is the same message'),
    header('Timestamp', 'RFC 3339; within ten minutes of now'),
    header('Signature', '`sha256=` and the HMAC over id, timestamp and body'),
    header('Type', 'notification, webhook_callback_verification or revocation'),
    AcceptsAnyObject('The message, as the platform sends it'),
    Answers(200, 'The challenge of a verification, as plain text'),
    Answers(204, 'Stored, or known already'),
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
  @DescribesWebhook('The platform’s webhook callback')
  async receive(@Req() request: RawRequest, @Res() reply: FastifyReply): Promise<void> {
    await this.answer(request, reply, undefined);
  }

  @Post(':event_type/webhook')
  @ApiParam({
    name: 'event_type',
    description: 'Only messages about this type are taken',
    example: 'stream-online',
  })
  @DescribesWebhook('The platform’s webhook callback for one event type')
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
