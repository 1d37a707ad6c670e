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
} from '@nestjs/common';
import { CreateSubscriptionDto } from './create-subscription.dto.js';
import { SubscriptionsService, type SubscriptionList } from './subscriptions.service.js';

/** The platform's own interface for subscriptions (docs/platform-facts.md §4.5). */
@Controller('helix/eventsub/subscriptions')
export class SubscriptionsController {
  constructor(@Inject(SubscriptionsService) private readonly subscriptions: SubscriptionsService) {}

  @Post()
  @HttpCode(202)
  create(@Body() request: CreateSubscriptionDto): SubscriptionList {
    return this.subscriptions.describe([this.subscriptions.create(request)]);
  }

  /** Everything on one page: the cursor of the platform is always empty here. */
  @Get()
  list(@Query('status') status?: string): SubscriptionList & { pagination: Record<string, never> } {
    return { ...this.subscriptions.describe(this.subscriptions.list(status)), pagination: {} };
  }

  @Delete()
  @HttpCode(204)
  remove(@Query('id') id?: string): void {
    if (!id) throw new BadRequestException('the query parameter id is missing');
    this.subscriptions.remove(id);
  }
}
