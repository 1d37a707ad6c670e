import {
  BadRequestException,
  Body,
  Controller,
  Delete,
  Get,
  Headers,
  HttpCode,
  Inject,
  Post,
  Query,
  UseGuards,
} from '@nestjs/common';
import { PlatformApiGuard } from '../oauth/platform-api.guard.js';
import { CreateSubscriptionDto } from './create-subscription.dto.js';
import { ListSubscriptionsDto } from './list-subscriptions.dto.js';
import { SubscriptionsService, type SubscriptionList } from './subscriptions.service.js';

/** The platform's subscriptions API (docs/platform-facts.md §4.5). An application sees only its own subscriptions. */
@Controller('helix/eventsub/subscriptions')
@UseGuards(PlatformApiGuard)
export class SubscriptionsController {
  constructor(@Inject(SubscriptionsService) private readonly subscriptions: SubscriptionsService) {}

  @Post()
  @HttpCode(202)
  create(@Headers('client-id') clientId: string, @Body() request: CreateSubscriptionDto): SubscriptionList {
    const view = this.subscriptions.create(clientId, request);
    return { data: [view], ...this.subscriptions.describe(clientId) };
  }

  @Get()
  list(@Headers('client-id') clientId: string, @Query() query: ListSubscriptionsDto): SubscriptionList {
    return this.subscriptions.list(clientId, query);
  }

  @Delete()
  @HttpCode(204)
  remove(@Headers('client-id') clientId: string, @Query('id') id?: string): void {
    if (!id) throw new BadRequestException('the query parameter id is missing');
    this.subscriptions.remove(clientId, id);
  }
}
