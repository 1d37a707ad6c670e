import { Module } from '@nestjs/common';
import { ApiEndpointsController } from './api-endpoints.controller.js';

@Module({ controllers: [ApiEndpointsController] })
export class ApiEndpointsModule {}
