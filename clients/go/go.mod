module user-group-service/clients/go

go 1.19
