"""A model of murmur as a scikit-learn pipeline, without pickle.

    import murmur_model
    model = murmur_model.load("model.json")
    rows = list(csv.DictReader(open("new.csv")))          # or frame.to_dict("records")
    model.predict_proba(murmur_model.features(rows, "model.json"))
"""
import json
from datetime import date, datetime

import numpy as np
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import LabelBinarizer, MinMaxScaler

MISSING = {"", "?", "na", "n/a", "nan", "null", "none"}


def load(path):
    """The pipeline: scaling by declared bounds, then the model. It takes unscaled features in the order of `features`."""
    with open(path, encoding="utf-8") as file:
        about = json.load(file)
    steps = [("model", _model(about))]
    if about["bounds"]:
        steps.insert(0, ("bounds", _scaler(np.array(about["bounds"], dtype=np.float64))))
    return Pipeline(steps)


def features(rows, path, decimal="."):
    """Rows of a table (dictionaries by column) as the matrix that the pipeline takes; `decimal=","` for tables with decimal commas."""
    with open(path, encoding="utf-8") as file:
        columns = json.load(file)["schema"]["columns"]
    used = {name.split("=")[0] for name in _names(path)}
    return np.array([[v for name in sorted(columns) if name in used for v in _cell(columns[name], row.get(name), decimal)] for row in rows])


def _names(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)["features"]


def _cell(column, value, decimal):
    text = "" if value is None else str(value).strip()
    missing = text.lower() in MISSING
    if "values" in column:
        word = column.get("fill", "") if missing and text not in column["values"] else text
        return [1.0 if word == known else 0.0 for known in column["values"]]
    if "date" in column:
        if missing:
            day = date.fromisoformat(column["fill"])
        elif column["date"] == "iso":
            day = date.fromisoformat(text[:10])
        else:
            day = datetime.strptime(text, column["date"]).date()
        return [float((day - date(1970, 1, 1)).days)]
    return [float(column["fill"]) if missing else float(text.replace(decimal, "."))]


def _scaler(bounds):
    low, high = bounds[:, 0], bounds[:, 1]
    scaler = MinMaxScaler(clip=True)
    scaler.data_min_, scaler.data_max_, scaler.data_range_ = low, high, high - low
    scaler.scale_, scaler.min_ = 1.0 / (high - low), -low / (high - low)
    scaler.n_features_in_, scaler.n_samples_seen_ = len(low), 1
    return scaler


def _model(about):
    weights = [np.array(layer["weight"], dtype=np.float64).T for layer in about["layers"]]
    biases = [np.array(layer["bias"], dtype=np.float64) for layer in about["layers"]]
    classes = np.array(about["classes"])
    if about["end"] == "softmax" and len(classes) == 2:
        # Two classes have one output in scikit-learn: the difference.
        weights[-1] = weights[-1][:, 1:] - weights[-1][:, :1]
        biases[-1] = biases[-1][1:] - biases[-1][:1]
    if about["end"] == "value":
        low, high = about["target"]
        weights[-1], biases[-1] = weights[-1] * (high - low), biases[-1] * (high - low) + low
    if len(weights) == 1:
        model = LinearRegression() if about["end"] == "value" else LogisticRegression()
        model.coef_, model.intercept_ = weights[0].T, biases[0]
        if about["end"] != "value":
            model.classes_ = classes
    else:
        hidden = tuple(weight.shape[1] for weight in weights[:-1])
        kind = MLPRegressor if about["end"] == "value" else MLPClassifier
        model = kind(hidden_layer_sizes=hidden, activation=about["activation"])
        model.coefs_, model.intercepts_ = weights, biases
        model.n_layers_, model.n_outputs_ = len(weights) + 1, weights[-1].shape[1]
        model.out_activation_ = {"value": "identity"}.get(about["end"], "softmax" if len(classes) > 2 else "logistic")
        if about["end"] != "value":
            model._label_binarizer = LabelBinarizer().fit(classes)
            model._label_binarizer.classes_ = classes
            model.classes_ = classes
    model.n_features_in_ = weights[0].shape[0]
    return model
