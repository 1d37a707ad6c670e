import { Module } from '@nestjs/common';
import { ApiEndpointsController } from './api-endpoints.controller.js';
import { ApiEndpointsService } from './api-endpoints.service.js';

@Module({ controllers: [ApiEndpointsController], providers: [ApiEndpointsService] })
export class ApiEndpointsModule {}
