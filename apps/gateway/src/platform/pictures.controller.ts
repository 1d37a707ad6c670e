import { applyDecorators, Controller, Get, Param, Req, Res } from '@nestjs/common';
import { ApiHeader, ApiOperation, ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import { getPicture, platformIdPattern, ServiceError, type PictureKind } from '@stream-events/contracts';
import { RequestClient } from '@stream-events/messaging';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AllowAccess } from '../access/allow-access.decorator.js';
import { RefusesWith } from '../http/api-decorators.js';

// Browsers cache pictures for a day, like the connector.
const cacheControl = 'private, max-age=86400';

const mediaTypes = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

@ApiTags('Platform')
@Controller('api/v1/platform')
export class PicturesController {
  constructor(private readonly client: RequestClient) {}

  @Get('users/:id/picture')
  @AllowAccess('platform:read')
  @DescribesPicture('getUserPicture', 'user')
  user(@Param('id') id: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.send('user', id, { request, reply });
  }

  @Get('categories/:id/picture')
  @AllowAccess('platform:read')
  @DescribesPicture('getCategoryPicture', 'category')
  category(
    @Param('id') id: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.send('category', id, { request, reply });
  }

  private async send(
    kind: PictureKind,
    id: string,
    { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  ): Promise<void> {
    if (!platformIdPattern.test(id))
      throw new ServiceError('not_found', `The platform has no picture of this ${kind}.`);
    const knownHash = readKnownHash(request.headers['if-none-match']);
    const picture = await this.client.request(
      getPicture,
      { kind, id, knownHash },
      { correlationId: request.id },
    );
    void reply.headers({ etag: `"${picture.hash}"`, 'cache-control': cacheControl });
    if (picture.bytes === null) await reply.code(304).send();
    else await reply.type(picture.mediaType).send(Buffer.from(picture.bytes, 'base64'));
  }
}

/** Reads the hash in `If-None-Match`. Null if the header is missing or is not exactly one hash. */
function readKnownHash(header: string | undefined): string | null {
  return /^(?:W\/)?"([0-9a-f]{32})"$/.exec(header ?? '')?.[1] ?? null;
}

function DescribesPicture(operationId: string, kind: PictureKind): MethodDecorator {
  return applyDecorators(
    ApiOperation({
      operationId,
      summary: `Get the picture of a ${kind} of the platform`,
      description:
        'The service fetches the picture from the platform on the first request, and caches it for a day. The response has an ' +
        '`ETag`. An `<img>` element cannot send your token: a web page loads the picture with `fetch` and shows it through a blob URL ' +
        '(`URL.createObjectURL`).',
    }),
    ApiParam({
      name: 'id',
      description: `The ${kind}’s id on the platform`,
      schema: { type: 'string', pattern: platformIdPattern.source, example: '47019283' },
    }),
    ApiHeader({
      name: 'If-None-Match',
      required: false,
      schema: { type: 'string' },
      description:
        'The `ETag` of the picture that you have. If the picture has not changed, the response is 304',
    }),
    ApiResponse({
      status: 200,
      description: 'The picture, at most 512 KiB',
      content: Object.fromEntries(
        mediaTypes.map((type) => [type, { schema: { type: 'string' as const, format: 'binary' } }]),
      ),
    }),
    ApiResponse({ status: 304, description: 'The picture has not changed' }),
    RefusesWith({
      not_found: `The platform has no picture of this ${kind}`,
      unavailable: 'The platform is unavailable, or no platform is configured',
    }),
  );
}
