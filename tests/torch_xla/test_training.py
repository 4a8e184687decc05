"""Models train for some steps as they do on the CPU."""

import copy

import torch
import torch_xla
from torch import nn


class Cnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 8, 3, padding=1),
            nn.BatchNorm2d(8),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(8, 16, 3, stride=2, groups=2),
            nn.GELU(),
            nn.AvgPool2d(2),
        )
        self.head = nn.Linear(16, 10)

    def forward(self, x):
        return self.head(self.features(x).flatten(1))


class Transformer(nn.Module):
    def __init__(self, vocabulary=32, width=16):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        layer = nn.TransformerEncoderLayer(width, nhead=4, dim_feedforward=32, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers=2, enable_nested_tensor=False)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, tokens):
        length = tokens.shape[1]
        mask = torch.triu(torch.full((length, length), float("-inf"), device=tokens.device), diagonal=1)
        return self.head(self.encoder(self.embedding(tokens), mask=mask)).flatten(0, 1)


def losses(model, optimizer, x, y, steps):
    values = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        torch_xla.sync()
        values.append(loss.item())
    return values


def trains_as_on_the_cpu(model, make_optimizer, x, y, device, steps=6):
    on_device = copy.deepcopy(model).to(device)
    expected = losses(model, make_optimizer(model.parameters()), x, y, steps)
    got = losses(on_device, make_optimizer(on_device.parameters()), x.to(device), y.to(device), steps)
    torch.testing.assert_close(got, expected, rtol=2e-3, atol=1e-4)
    assert got[-1] < got[0] * 0.95, "the model learns"


def test_a_cnn_trains(device):
    torch.manual_seed(0)
    x, y = torch.randn(8, 3, 12, 12), torch.randint(0, 10, (8,))
    trains_as_on_the_cpu(Cnn(), lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9), x, y, device)


def test_a_transformer_trains(device):
    torch.manual_seed(0)
    tokens = torch.randint(0, 32, (4, 9))
    x, y = tokens[:, :-1], tokens[:, 1:].flatten()
    trains_as_on_the_cpu(Transformer(), lambda p: torch.optim.AdamW(p, lr=0.01), x, y, device)


def test_an_lstm_trains(device):
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm = nn.LSTM(5, 8, batch_first=True)
            self.head = nn.Linear(8, 3)

        def forward(self, x):
            return self.head(self.lstm(x)[0][:, -1])

    torch.manual_seed(0)
    x, y = torch.randn(6, 7, 5), torch.randint(0, 3, (6,))
    trains_as_on_the_cpu(Model(), lambda p: torch.optim.Adam(p, lr=0.05), x, y, device)
