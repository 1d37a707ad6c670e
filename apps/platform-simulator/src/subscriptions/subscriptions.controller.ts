import {
  BadRequestException,
  Body,
  Controller,
  Delete,
  Get,
  HttpCode,
  Inject,
  Post,
  Query,
  UseGuards,
} from '@nestjs/common';
import { IsOptionalText } from '../http/validation.js';
import { Caller, PlatformApiGuard } from '../oauth/platform-api.guard.js';
import type { TokenOwner } from '../oauth/tokens.js';
import { CreateSubscriptionDto } from './request-checks.service.js';
import { SubscriptionFilter } from './subscription-registry.js';
import { SubscriptionsService, type SubscriptionList } from './subscriptions.service.js';

/** Query of `GET /helix/eventsub/subscriptions`. */
class ListSubscriptionsDto extends SubscriptionFilter {
  @IsOptionalText()
  after?: string;
}

/**
 * The platform's subscriptions API (FACTS.md §4.5). An application sees only its own subscriptions. A user access token sees
 * only the socket subscriptions that this user's tokens created.
 */
@Controller('helix/eventsub/subscriptions')
@UseGuards(PlatformApiGuard)
export class SubscriptionsController {
  constructor(@Inject(SubscriptionsService) private readonly subscriptions: SubscriptionsService) {}

  @Post()
  @HttpCode(202)
  create(@Caller() caller: TokenOwner, @Body() request: CreateSubscriptionDto): SubscriptionList {
    const view = this.subscriptions.create(caller, request);
    return { data: [view], ...this.subscriptions.describe(caller) };
  }

  @Get()
  list(@Caller() caller: TokenOwner, @Query() query: ListSubscriptionsDto): SubscriptionList {
    return this.subscriptions.list(caller, query);
  }

  @Delete()
  @HttpCode(204)
  remove(@Caller() caller: TokenOwner, @Query('id') id?: string): void {
    if (!id) throw new BadRequestException('the query parameter id is missing');
    this.subscriptions.remove(caller, id);
  }
}
